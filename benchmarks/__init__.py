"""Benchmarks against other libraries; ``python -m benchmarks`` runs all of them.

Every library gets one thread. The variables below must be set before NumPy is first imported.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
