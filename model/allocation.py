"""What the two ways to learn latent Dirichlet allocation share: priors, warm start, and rebirth."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from wikitopics.model import options as check
from wikitopics.model.lambda_ import LambdaModel, Topics, Vector
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.rebirth import Rebirth
from wikitopics.model.schedules import Stage
from wikitopics.model.states import LARGEST, Entry
from wikitopics.option import Option

Prior = float | Literal["learn"] | None


class DirichletAllocation(LambdaModel):
    """Latent Dirichlet allocation, however it is learnt."""

    STEP_OPTIONS: ClassVar = (
        Option(
            float,
            "kappa",
            "how fast step sizes (tau0 + t)^-kappa fall; by default they follow the articles seen",
            least=0.5,
            most=1,
        ),
        Option(float, "tau0", "damps the first of these step sizes", least=0, most=LARGEST),
        check.HALF_LIFE,
    )

    parts: ClassVar = {"_topics": Topics.kept, "_rebirth": Rebirth}
    entries = (
        *Topics.ENTRIES,
        *Rebirth.ENTRIES,
        Entry("warm_start", type="bool"),
        Entry("learn_alpha", "_learn_alpha", "bool"),
        Entry("learn_eta", "_learn_eta", "bool"),
        Entry("own_steps", "_own_steps", "bool"),
        Entry("amount_seen", "_amount", least=0),
    )

    def _choose(self, warm_start: bool, own_steps: bool, alpha: Prior, eta: Prior, dtype: str) -> None:
        """Set what follows from these settings; own_steps: whether the warm start may choose step sizes."""
        check.one_of(("float32", "float64"), dtype=dtype)
        self.warm_start = bool(warm_start)
        self.recipe: Any = self.RECIPES[not warm_start]
        self._own_steps = self.warm_start and own_steps
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        self._amount = 0.0  # documents seen, as the recipe counts them
        self._rebirth = Rebirth.of(self.n_topics, self.half_life)

    def _begin_step(self, batch: Minibatch) -> Stage:
        """The warm start's stage at a minibatch, which then counts as seen by its schedules."""
        before, amount = self._amount, self.recipe.amount(batch)
        self._amount += amount
        stage: Stage = self.recipe.stage(self.n_documents, self._seen + batch.D, before, amount)
        return stage

    def _bear(self, alpha: Vector, mass: Vector, batch: Minibatch) -> None:
        """Topics whose subjects have left the stream start again; mass: (K,) the words of each in `batch`."""
        if self._rebirth:
            born = self._rebirth.step(self._topics, mass, batch, self._random)
            if self._learn_alpha:
                alpha[born] = alpha.mean()

    def _contradiction(self) -> str:
        return "" if self._topics.total_hat.any() else "total_hat must not be all 0"
