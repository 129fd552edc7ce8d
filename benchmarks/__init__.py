"""Speed and quality beside the peers, as ratios in one run: ``python -m benchmarks.run``.

Everyone has one thread; the libraries below read these variables when they are first imported.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
