"""The benchmark of work on a cluster: what it counts, without a cluster."""

from itertools import islice

from benchmarks import cluster
from tagalong import Tagger
from tagalong.distributed.archives.model import model_bytes
from tagalong.readers import write


def test_bytes_sent_are_counted(tmp_path):
    tagger = Tagger()
    for item in cluster.texts(60):
        tagger.learn(item, item.labels)
    source = tmp_path / "items.jsonl"
    write(cluster.texts(60), source)
    (model, model_size), (task, task_size) = cluster.sent_rows(tagger, source)
    assert model.startswith("tagging: the model")
    assert int(model_size.replace(",", "")) == len(model_bytes(tagger))
    assert task == "tagging: a task"
    assert 0 < int(task_size.replace(",", "")) < 2000  # a task has no items and no model


def test_texts_are_the_same_in_every_run():
    assert list(cluster.texts(5)) == list(islice(cluster.texts(9), 5))
