from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Optional, Union

import numpy
from numpy.typing import NDArray

from ._tables import Records
from ._tasks import Task

Path = Union[str, PathLike[str]]

__version__: str

class Error(RuntimeError): ...
class InputError(ValueError): ...

def train(
    config: Union[Path, dict[str, Any], None] = None,
    overrides: Optional[dict[str, Any]] = None,
    *,
    run: Optional[Path] = None,
    resume: bool = False,
    until: Optional[int] = None,
    progress: bool = False,
    callback: Optional[Callable[[dict[str, Any]], object]] = None,
) -> Run: ...
def open(path: Path, checkpoint: Union[str, int] = "") -> Run: ...
def compare(runs: Iterable[Union[Run, Path]], /, **options: Any) -> Comparison: ...
def sweep(path: Optional[Path] = None, *, run: Optional[Path] = None, progress: bool = False, **options: Any) -> Comparison: ...
def task(function: Callable[[numpy.random.Generator, str], Any]) -> Task: ...

class Run:
    def __init__(self, path: Path, checkpoint: Union[str, int] = "") -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def metrics(self) -> dict[str, Records]: ...
    def evaluate(self, split: str = "") -> dict[str, float]: ...
    def predict(self, lines: Iterable[str], *, beam: int = 1, length_penalty: float = 0.0, length: int = 0) -> list[str]: ...
    def generate(
        self,
        prompt: str = "",
        n: int = 0,
        *,
        count: Optional[int] = None,
        temperature: Optional[float] = None,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: Optional[int] = None,
    ) -> Union[str, list[str]]: ...
    def forward(
        self,
        inputs: Union[str, Sequence[str], Sequence[int], Sequence[Sequence[int]], NDArray[numpy.integer], None] = None,
        targets: Union[str, Sequence[str], Sequence[int], Sequence[Sequence[int]], NDArray[numpy.integer], None] = None,
        *,
        examples: Union[int, Iterable[int], None] = None,
        split: str = "",
        cache: bool = False,
    ) -> Activations: ...
    def inspect(self, view: str, **options: Any) -> dict[str, Any]: ...
    def ablate(self, part: Union[str, Iterable[str]], head: Optional[int] = None, **options: Any) -> dict[str, Any]: ...

class Activations(dict[str, NDArray[numpy.float32]]):
    @property
    def logits(self) -> NDArray[numpy.float32]: ...

class Comparison:
    def __init__(self, runs: Iterable[Union[Run, Path]], options: dict[str, Any]) -> None: ...
    @property
    def table(self) -> Records: ...
