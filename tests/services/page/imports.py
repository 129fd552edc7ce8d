"""Files that are brought in, and the pages of their jobs."""

import time

from tests.services.page.browser import PATIENCE
from tests.services.page.content import HOSTILE_LABELS
from tests.services.page.site import Site

BOUNDARY = "between-the-fields"
LOOK_EVERY = 0.05
_LEARNT = [
    f"Invoice {number},Please pay the amount due,bills\n"
    f"Train {number},Your ticket to Lisbon,travel\n"
    for number in range(100)
]
_OPEN = "Invoice 417,Please pay by Friday,\nNight train,A ticket for two,\nLamp,It is dark,\n"
TABLE = "subject,body,category\n" + "".join(_LEARNT) + _OPEN + "one,two,three,four\n"
"""Learnt and open items, and a row that cannot be read."""
HOSTILE_NAME = "<i>tickets</i> \u202e.csv"
HOSTILE_TABLE = (
    'subject,body,category,"<img src=x onerror=window.attacked=9>"\n'
    f'<script>window.attacked=10</script>,"\u202egnp.exe",{HOSTILE_LABELS[0]},x\n'
    f"</ul></main>,{'W' * 500},,x\n"
    '<b>short</b>," onfocus=window.attacked=11 ,,,,x\n'
)


def job_path(site: Site) -> str:
    """The path of an import that has ended; the first call makes it.

    Parameters
    ----------
    site : Site
        The workspace, with hostile content if its name says so.
    """
    batches = [event["batch"] for event in site.events("item") if event.get("batch")]
    if batches and site.calls.get(f"jobs/{batches[-1]}").status == 200:
        return f"/jobs/{batches[-1]}"
    is_hostile = site.name.startswith("hostile")
    name, text = (HOSTILE_NAME, HOSTILE_TABLE) if is_hostile else ("tickets.csv", TABLE)
    return f"/jobs/{_imported(site, name, text)}"


def _imported(site: Site, name: str, text: str) -> str:
    """Bring in a file, wait until it is learnt, and return the id of the job."""
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    form = f"--{BOUNDARY}\r\n{head}\r\n\r\n{text}\r\n--{BOUNDARY}--\r\n"
    media = f"multipart/form-data; boundary={BOUNDARY}"
    begun = site.calls.send("POST", "import", form.encode(), media=media)
    assert begun.status == 202, begun.body
    job = str(begun.json["job"])
    end = time.monotonic() + PATIENCE
    while (found := site.calls.get(f"jobs/{job}").json)["state"] in ("waiting", "running"):
        assert time.monotonic() < end, found
        time.sleep(LOOK_EVERY)
    assert found["state"] == "done", found
    return job
