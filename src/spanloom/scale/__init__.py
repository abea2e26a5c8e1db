"""Past one core and one machine: a model in many workers, resumable batches, Dask and Spark."""

from spanloom.scale.batches import BatchReport, tag_files
from spanloom.scale.loading import ModelSource, deposit, model
from spanloom.scale.out_of_core import out_of_core
from spanloom.scale.work import TagSettings

__all__ = ["BatchReport", "ModelSource", "TagSettings", "deposit", "model", "out_of_core", "tag_files"]
