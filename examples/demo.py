"""Learn the documentation of Python's standard library, item by item, and ask questions.

The docstrings of the interpreter that runs this come one after the other, in mixed order. Each
belongs under its modules and its kind: "json", "json.decoder", "kind:method". Every one is ranked
before it is learnt. The same commands work on your mail, tickets and documents.
"""

import shlex
import sys
import time
from pathlib import Path

import tagalong
from tagalong.cli.main import main as command_line

FOLDER = Path("build", "demo")
QUESTIONS = [
    "Log in to the mail server and send a message.",
    "Extract a member of the archive to the current directory.",
    "Round the number to the precision of the context.",
]


def run(command: str) -> None:
    """Show a command and do what it says."""
    print(f"\n$ tagalong {command}", flush=True)
    code = command_line(shlex.split(command))
    if code != 0:
        sys.exit(code)


def ask(tagger: tagalong.Tagger) -> None:
    """Ask the model three times, from Python, and why it puts the first module where it does."""
    print("\n>>> tagger = tagalong.load(...)")
    for question in QUESTIONS:
        print(f"\n>>> tagger.suggest({question!r})")
        suggestions = tagger.suggest(question)
        for suggestion in suggestions:
            print(suggestion)
        module = next(s.label for s in suggestions if not str(s.label).startswith("kind:"))
        print(f">>> tagger.explain(..., {module!r})")
        print(tagger.explain(question, module))


def main() -> None:
    """Learn, ask three times why, show the model."""
    started = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    model, plot = FOLDER / "pydocs.tagalong", FOLDER / "pydocs.png"
    model.unlink(missing_ok=True)
    run(f"learn pydocs: --model {model} --plot {plot}")
    ask(tagalong.load(model))
    run(f"inspect {model}")
    print(
        f"\nDone in {time.monotonic() - started:.0f} seconds. The model is {model}."
        f"\nThe plot {plot} shows how often the first suggestion was right."
        "\n\nTry next, after 'source .venv/bin/activate':"
        f"\n  tagalong inspect {model} --certificate"
        "\n                                             what is proven about its mistakes"
        "\n  tagalong compare pydocs: --paper p1        the first paper's algorithms, side by side"
        "\n  tagalong learn your.mbox -m mail.tagalong  your own mail; see docs/mail.md"
        "\n  tagalong learn tickets.csv --text title,body --labels team -m tickets.tagalong"
        "\n  tagalong --help"
        "\n\nOpen the page, with part of the documentation learnt and fifty items to file:"
        "\n  .venv/bin/tagalong serve --demo"
    )


if __name__ == "__main__":
    main()
