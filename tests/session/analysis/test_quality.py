"""What people are told of topics that come back in replicas."""

from wikitopics.session.analysis.quality import FOUND_SIGNS, found_legend


def test_the_legend_explains_every_sign_whichever_of_them_are_shown():
    legend = found_legend([0.2, None, 0.4])
    assert "models with other seeds" in legend
    for _, sign, how_many in FOUND_SIGNS:
        assert f"{sign} {how_many}" in legend
    assert legend == found_legend(iter([1.0]))


def test_topics_without_replicas_have_no_legend():
    assert found_legend([]) == found_legend([None, None]) == ""
