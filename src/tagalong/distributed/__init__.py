"""Work on many machines: tag archives, fit batch models, learn streams in shards."""

from typing import TYPE_CHECKING

from tagalong.lazy_names import lazy_names

if TYPE_CHECKING:
    from tagalong.distributed.batch_training import fit

__all__ = ["fit"]

__getattr__, __dir__ = lazy_names(__name__, {"fit": "tagalong.distributed.batch_training"})
