"""A `CountingPool` whose workers are those of a cluster."""

from concurrent.futures import Executor

from wikitopics.crawler.source import Activity, SourceInfo
from wikitopics.session.training.intake.cluster.executor import Cluster
from wikitopics.session.training.intake.cluster.scheduler import JOBS_A_THREAD
from wikitopics.session.training.intake.pool import CountingPool
from wikitopics.vocab import Vocabulary


class ClusterPool(CountingPool):
    """Connects when it is made. Raises SessionError."""

    def __init__(self, address: str, vocabulary: Vocabulary, info: SourceInfo, activity: Activity) -> None:
        self._cluster = Cluster(address, vocabulary, info, activity)
        try:
            self._cluster.connect()
        except BaseException:
            self._cluster.shutdown()
            raise
        super().__init__(vocabulary.lines, info, 0)

    @property
    def workers(self) -> int:
        """The number of processes of the cluster in use."""
        return len(self._cluster.workers)

    @property
    def threads(self) -> int:
        """The number of jobs that they take at a time."""
        return sum(worker.threads for worker in self._cluster.workers)

    @property
    def jobs(self) -> int:
        return JOBS_A_THREAD * self.threads

    def _new_executor(self) -> Executor:
        return self._cluster
