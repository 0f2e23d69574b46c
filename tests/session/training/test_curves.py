"""What a session keeps of the scores of articles that were not trained on yet."""

from tests.session.training.driving import MODELS, Driver
from wikitopics.session.storage.reader import SessionReader

METRIC = "prequential_log_likelihood"


def measured(path):
    with SessionReader(path) as reader:
        rows = reader.all_metrics()
    return {
        (model, articles): value
        for model, articles, _, _, metric, value in rows
        if metric == METRIC
    }


def test_scores_before_training_survive_every_interruption(undisturbed):
    calm = undisturbed(seeds=1, model=tuple(f"{spec},half_life=300" for spec in MODELS.values()))
    with SessionReader(calm) as reader:
        points = {
            articles for _, articles, _, _, metric, _ in reader.all_metrics() if metric == "npmi"
        }
    assert measured(calm).keys() == {(name, count) for name in MODELS for count in points}


def test_all_models_are_scored_where_one_forgets_and_none_where_none_does(sessions, corpus):
    path = sessions(
        "one", model=("lda:topics=3,batch_size=64", "scvb0:topics=3,batch_size=64,half_life=300")
    )
    Driver(path, corpus).run()
    assert {model for model, _ in measured(path)} == {"lda", "scvb0"}
    path = sessions("plain")
    assert Driver(path, corpus).run().trainer.progress.prequential == ()
    assert measured(path) == {}
