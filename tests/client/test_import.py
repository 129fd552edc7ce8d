"""A client needs the standard library only."""

import subprocess
import sys

from tagalong import tagger


def test_no_other_package_is_imported() -> None:
    program = (
        "import sys; before = set(sys.modules); import tagalong.client; "
        "names = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(names - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "['tagalong']\n", done.stderr


def test_the_names_of_the_tagger_load_on_first_use() -> None:
    program = "import sys; from tagalong.tagger import Suggestions; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
    assert sorted(tagger.__all__) == dir(tagger)
    assert all(hasattr(tagger, name) for name in tagger.__all__)
