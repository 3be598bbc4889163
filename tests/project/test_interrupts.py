"""Ctrl-C where it would break something waits for the end of an import or of a compilation."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from sciprec.cli.console import INTERRUPTED
from sciprec.foundation import interrupts
from sciprec.foundation.interrupts import deferred_interrupts, terminated_as_by_interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process on Windows")


@pytest.fixture
def heard():
    """The signals that the program's own handler has been called with."""
    calls = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    yield calls
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("interrupts_inside", "expected"), [(1, ["inner", "outer"]), (2, [])])
def test_an_interrupt_waits_for_the_end_of_the_outermost_block_and_a_second_one_does_not(
    interrupts_inside, expected
):
    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        with deferred_interrupts():
            for _ in range(interrupts_inside):
                signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("outer")
    assert done == expected
    assert signal.getsignal(signal.SIGINT) is before and interrupts._deferral is None


def test_an_interrupt_goes_before_an_error_of_the_block():
    with pytest.raises(KeyboardInterrupt) as caught, deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("an error")
    assert str(caught.value.__context__) == "an error"


def test_a_handler_of_the_program_is_called_for_each_interrupt(heard):
    own = signal.getsignal(signal.SIGINT)
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        assert heard == []
    assert heard == [signal.SIGINT] and signal.getsignal(signal.SIGINT) is own
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert heard == 3 * [signal.SIGINT]
    assert heard == 3 * [signal.SIGINT] and signal.getsignal(signal.SIGINT) is own


def test_a_handler_that_is_set_inside_stays(heard):
    other = []
    with deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        noting = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, lambda *_: other.append(1))
        signal.raise_signal(signal.SIGINT)
        assert (heard, other) == ([], [1])
    assert (heard, other) == ([signal.SIGINT], [1])
    signal.raise_signal(signal.SIGINT)
    assert (heard, other) == ([signal.SIGINT], [1, 1])
    signal.signal(signal.SIGINT, noting)  # as who has kept it may put it back
    signal.raise_signal(signal.SIGINT)
    assert heard == 2 * [signal.SIGINT]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_what_is_not_handled_in_python_is_left_alone(handler, heard):
    signal.signal(signal.SIGINT, handler)
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is handler


def test_other_threads_and_other_signals_are_left_alone(heard):
    own, seen = signal.getsignal(signal.SIGINT), []

    def other():
        with deferred_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    terminated = signal.getsignal(signal.SIGTERM)
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGTERM) is terminated
    assert seen == [own]


def test_termination_is_an_interrupt_that_waits_where_others_do(heard):
    with terminated_as_by_interrupts(), deferred_interrupts():
        signal.raise_signal(signal.SIGTERM)
        assert heard == []
    assert heard == [signal.SIGINT] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as of a shell's command in the background
    with pytest.raises(KeyboardInterrupt), terminated_as_by_interrupts():
        signal.raise_signal(signal.SIGTERM)


def test_a_program_goes_on_to_handle_its_termination():
    for own in (signal.SIG_IGN, lambda number, frame: None):
        before = signal.signal(signal.SIGTERM, own)
        with terminated_as_by_interrupts():
            assert signal.getsignal(signal.SIGTERM) is own
            signal.raise_signal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)


# ---- the command line ----------------------------------------------------------------------------

DEFERRED = """
    import hashlib, signal, sys, threading, time
    from sciprec import heston
    from sciprec.cli import commands as cli
    from sciprec.foundation.interrupts import deferred_interrupts, terminated_as_by_interrupts

    def price(*given, **options):
        with deferred_interrupts():
            print("begun", flush=True)
            hashlib.pbkdf2_hmac("sha512", b"word", b"salt", 40_000_000)  # as LLVM does: no Python

    heston.price = price
    words = "--model lewis --payoff call --strike 100 --maturity 1 -q"
    cli.main(["price", *words.split()])
"""


@pytest.mark.slow
def test_a_command_ends_although_it_defers():
    command, piped = [sys.executable, "-c", textwrap.dedent(DEFERRED)], subprocess.PIPE
    with subprocess.Popen(command, stdout=piped, stderr=piped, text=True) as one:
        assert one.stdout.readline() == "begun\n", one.stderr.read()
        begun = time.perf_counter()
        one.send_signal(signal.SIGINT)
        assert one.wait(timeout=30) == INTERRUPTED
        assert time.perf_counter() - begun < interrupts.LONGEST_DEFERRAL + 2.0
        assert one.stderr.read() == "sciprec: interrupted; no price was made\n"
