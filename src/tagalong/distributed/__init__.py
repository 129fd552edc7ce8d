"""Work on many machines: tag archives, fit batch models, learn streams in shards.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.distributed.archives.run import suggest
    from tagalong.distributed.batch_training import fit
    from tagalong.distributed.sharded_learning import Learning, learn

__all__ = ["Learning", "fit", "learn", "suggest"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Learning": "tagalong.distributed.sharded_learning",
        "fit": "tagalong.distributed.batch_training",
        "learn": "tagalong.distributed.sharded_learning",
        "suggest": "tagalong.distributed.archives.run",
    },
)
