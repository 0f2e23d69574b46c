"""Document completion: what it refuses, whichever half of a document it falls into."""

import pytest

from wikitopics.model import Minibatch, OnlineLDA, document_completion


@pytest.mark.parametrize("seed", range(4))
def test_a_word_out_of_range_is_refused_in_either_half(seed):
    model = OnlineLDA(3, 40, 500)
    with pytest.raises(ValueError, match="40"):
        document_completion(model, Minibatch([0, 2], [1, 40], [1, 1]), seed)
