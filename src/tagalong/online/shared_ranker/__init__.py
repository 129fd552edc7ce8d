"""Label ranking with one weight vector that all labels share (P2)."""

from tagalong.online.shared_ranker.folder_affinity import FolderAffinity
from tagalong.online.shared_ranker.label_features import LabelFeatures
from tagalong.online.shared_ranker.learner import SharedLabelRanker

__all__ = ["FolderAffinity", "LabelFeatures", "SharedLabelRanker"]
