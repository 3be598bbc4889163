"""Copies of one program that run in step: requests that all of them make are answered together.

Each copy is a thread; one of them runs at a time, in the order of their numbers. Where a copy asks
for something it waits until all others have come to the same place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_R = TypeVar("_R")
STACK_BYTES = 16 * 2**20
"""Stack of a thread: compilers call themselves deeply."""


class _CopyEnded(BaseException):
    """The end of a copy because another one has failed."""


class Finished:
    """The request of a copy that has come to its end.

    Args:
        result: what it gave.
    """

    name, action = "", "ends"

    def __init__(self, result: Any) -> None:
        self.result = result


class Copies:
    """Copies of a program, and the place where they meet.

    Args:
        count: how many.
        answer: what all copies ask for at once -> an answer for each. It is called a last time with
            `Finished` of every copy, and gets both kinds where copies go different ways.
    """

    def __init__(self, count: int, answer: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        self.count, self._answer = count, answer
        self._turns = [threading.Semaphore(0) for _ in range(count)]
        self._requests: list[Any] = [None] * count
        self._answers: Sequence[Any] = ()
        self._failure: BaseException | None = None

    def run(self, program: Callable[[int], _R]) -> list[_R]:
        """Run the program in each copy and return the results; it is called with the copy's number.

        Raises:
            BaseException: what the first copy that failed has raised, or `answer`.
        """
        size = threading.stack_size(STACK_BYTES)
        try:
            threads = [
                threading.Thread(target=self._copy, args=(program, k), daemon=True)
                for k in range(self.count)
            ]
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(size)
        self._turns[0].release()
        try:
            for thread in threads:
                thread.join()
        except BaseException as failure:  # Ctrl-C
            self._fail(failure)
            raise
        if self._failure is not None:
            raise self._failure
        return [finished.result for finished in self._requests]

    def meet(self, copy: int, request: Any) -> Any:
        """The answer for a copy, when all of them have asked."""
        self._requests[copy] = request
        self._pass_on(copy)
        self._wait(copy)
        return self._answers[copy]

    def _copy(self, program: Callable[[int], Any], copy: int) -> None:
        try:
            self._wait(copy)
            self._requests[copy] = Finished(program(copy))
            self._pass_on(copy)
        except _CopyEnded:
            pass
        except BaseException as failure:
            self._fail(failure)

    def _pass_on(self, copy: int) -> None:
        """The next one's turn; the last one lets all be answered first."""
        if copy + 1 < self.count:
            self._turns[copy + 1].release()
            return
        self._answers = self._answer(self._requests)
        self._turns[0].release()

    def _wait(self, copy: int) -> None:
        self._turns[copy].acquire()
        if self._failure is not None:
            raise _CopyEnded

    def _fail(self, failure: BaseException) -> None:
        if self._failure is None:
            self._failure = failure
        for turn in self._turns:
            turn.release()
