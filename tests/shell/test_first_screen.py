"""The first screen of the page: its matrix, its sentences, what an arithmetic would save."""

import json
import math
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sciprec.cost.work import CARRY_FLOPS
from sciprec.facets.compensation.keys import CompensationChoice
from sciprec.report.first_screen import MOST_AT_ONCE, first_screen
from sciprec.report.page import render
from sciprec.report.sections.savings import savings_rows
from sciprec.report.stored.batch import StoredMember, worse_first
from sciprec.results.comparison.verdicts import STATUS_WORDS, Verdict, margin_in_words
from sciprec.scenario.variant import Variant


@pytest.fixture
def batch(stored_batch):
    return stored_batch


class Statements(HTMLParser):
    """The tables, rows, figures, sentences and items of a page: (tag, id, section, text)."""

    def __init__(self, page):
        super().__init__()
        self.open, self.done, self.section = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs).get("id") or ""
        if tag == "section":
            self.section = named
        if tag in ("table", "tr", "svg", "p", "li", "figcaption"):
            self.open.append((tag, named, self.section, []))

    def handle_data(self, data):
        for *_, text in self.open:
            text.append(data)

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            *about, text = self.open.pop()
            self.done.append((*about, " ".join("".join(text).split())))


def mixed(page, scenarios):
    """Tables, figures and sentences of a page that hold the numbers of several scenarios: those
    that name two, and those with numbers that stand in the part of no scenario.
    """
    parts = {"provenance", *(f"scenario-{name}" for name in scenarios)}
    return [
        (tag, named or text[:60])
        for tag, named, section, text in Statements(page).done
        if (tag in ("table", "svg") and named != "matrix" and section not in parts)
        or (sum(name in text for name in scenarios) > 1 and named != "matrix"
            and section != "provenance")
    ]  # fmt: skip


@pytest.mark.slow
def test_nothing_on_the_page_holds_two_scenarios(batch, blank_figures):
    page = render(batch)
    assert mixed(page, batch.scenarios) == []
    assert sum(tag == "table" for tag, *_ in Statements(page).done) > 6


def test_two_scenarios_in_a_table_figure_or_sentence_are_noticed():
    names = ("flow", "prices")
    both = "<section id='verdicts'><table id='costs'><tr><td>fp16</td></tr></table>"
    assert mixed(both, names) == [("table", "costs")]
    assert mixed("<section id='scenario-flow'><p>worst: flow, prices</p>", names)
    assert mixed("<section id='scenario-flow'><table></table><p>flow: 3</p>", names) == []


def screen_of(batch, **verdicts):
    """The first screen of the flow alone with other verdicts, by label."""
    runs = [
        replace(run, verdict=verdicts.get(run.label, run.verdict))
        for run in batch.of_scenario("little_climate")
    ]
    return first_screen(replace(batch, runs=tuple(runs)))


def test_cells_are_verdicts_with_their_factors(batch):
    screen = first_screen(batch)
    assert screen["columns"] == ["fp32", "fp16"]
    flow, prices = screen["rows"]
    assert (flow["scenario"], prices["scenario"]) == ("little_climate", "little_heston")
    ((first,), (second,)) = flow["cells"]
    assert (first.status, second.status) == ("good", "beyond")
    assert first.words.startswith("÷ ") and second.words.startswith("× ")
    assert flow["sentence"] == "fp32, 24 bits, is the smallest that suffices."
    assert prices["sentence"] == "fp16, 11 bits, is the smallest that suffices."


def test_a_carry_is_a_second_line_of_its_arithmetic(batch):
    flow = batch.of_scenario("little_climate")
    carried = replace(
        flow[-1], variant=Variant("fp16", CompensationChoice(name="carry")),
        verdict=Verdict("good", "well", 0.1),
    )  # fmt: skip
    (row,) = first_screen(replace(batch, runs=(*flow, carried)))["rows"]
    assert [[mark.compensation for mark in cell] for cell in row["cells"]] == [[""], ["", "+carry"]]
    assert row["sentence"] == (
        "fp16+carry, 11 bits, is the smallest that suffices; without carry, fp32, 24 bits."
    )


def test_no_arithmetic_by_place_is_called_the_smallest(batch):
    """Assignments and policies have no size of their own."""
    flow = batch.of_scenario("little_climate")[:1]
    names = ["policy:O0,narrow=fp16,wide=fp32", "policy:O1,narrow=fp16,wide=fp32"]
    mixed = json.dumps({"compute": {}, "assignment": {}})
    data = flow[-1].dataset.assign_attrs(sciprec_backend_properties=mixed)
    places = [replace(flow[-1], variant=Variant(name), verdict=Verdict("good", "well", 0.1),
                      dataset=data) for name in names]  # fmt: skip
    shown = ["O0 fp16/fp32", "O1 fp16/fp32"]
    (row,) = first_screen(replace(batch, runs=(*flow, *places[:1])))["rows"]
    assert row["sentence"] == f"{shown[0]} suffices, with mixed formats."
    (row,) = first_screen(replace(batch, runs=(*flow, *places)))["rows"]
    assert row["sentence"] == f"{shown[0]} and {shown[1]} suffice, with mixed formats."
    page = render(replace(batch, runs=(*flow, *places)))
    head = page.partition('id="matrix"')[2].partition("</thead>")[0]
    assert f'title="{names[1]}"><code>{shown[1]}</code></th>' in head
    assert f"<code>{shown[1]}</code> is <code>{names[1]}</code>" in page  # for those who print it


@given(st.lists(
    st.tuples(st.integers(2, 53), st.booleans(), st.booleans(), st.booleans()),
    min_size=1, max_size=9, unique_by=lambda given: given[:3],
))  # fmt: skip
def test_no_other_arithmetic_that_suffices_is_smaller(stored_batch, arithmetics):
    """Bits, whether it carries, whether its formats are mixed, whether it suffices."""
    truth, run, _ = stored_batch.of_scenario("little_climate")
    runs = []
    for bits, carries, mixed, good in arithmetics:
        about = {"compute": {"significand_bits": bits, "emin": -126, "emax": 127}}
        name = f"assignment:of_{bits}@{bits:012x}" if mixed else f"float:p={bits}"
        about |= {"assignment": {}} if mixed else {}
        dataset = run.dataset.assign_attrs(sciprec_backend_properties=json.dumps(about))
        variant = Variant(name, *[CompensationChoice(name="carry")] * carries)
        verdict = Verdict("good", "well", 0.5) if good else Verdict("beyond", "far", 2.0)
        runs.append(replace(run, variant=variant, dataset=dataset, verdict=verdict))
    screen = first_screen(replace(stored_batch, runs=(truth, *runs)))
    sentence = screen["rows"][0]["sentence"]
    single = [(bits, carries) for bits, carries, mixed, good in arithmetics if good and not mixed]
    of_places = [bits for bits, _, mixed, good in arithmetics if good and mixed]
    if single:
        bits, carries = min(single)
        head = f"float:p={bits}{'+carry' * carries}, {bits} bits, is the smallest"
        alone = len(arithmetics) == 1
        assert sentence.startswith(head.removesuffix(", is the smallest") if alone else head)
        assert (" single format" in sentence) == bool(of_places) == ("mixed" in sentence)
    else:
        assert "smallest" not in sentence
        assert ("mixed" in sentence) == bool(of_places)
    assert "suffice" in sentence


def test_a_member_that_failed_fails_the_cell(batch):
    member = StoredMember("little_climate", Variant("fp32"), "x.nc", 3, "ran out of memory")
    row = first_screen(replace(batch, further=(member,)))["rows"][0]
    (mark,) = row["cells"][0]
    assert (mark.status, mark.reason) == ("failed", "member 3: ran out of memory")
    assert row["sentence"].startswith("none suffices; fp16 comes closest (× ")


@given(
    st.sampled_from([status for status in STATUS_WORDS if status != "truth"]),
    st.one_of(st.floats(0.0, 1e30), st.just(math.nan), st.just(math.inf)),
)
@example("good", 2e-313)
def test_a_factor_is_below_only_where_it_is_good_enough(status, margin):
    """Evidence makes runs within their tolerances not good enough, which a ÷ would hide."""
    words = margin_in_words(Verdict(status, "why", margin))
    assert not words.startswith("÷") or (status == "good" and margin > 0.0)
    assert not words.startswith("×") or (status == "beyond" and margin > 1.0)
    assert words and "nan" not in words and not words.endswith((" 1", "inf"))


@given(
    st.lists(st.sampled_from([s for s in STATUS_WORDS if s != "truth"]), min_size=2, max_size=2),
    st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=2),
)
def test_every_scenario_has_a_sentence_that_names_no_arithmetic_that_failed(
    stored_batch, statuses, margins
):
    given_verdicts = {
        label: Verdict(status, "why", margin)
        for label, status, margin in zip(("fp32", "fp16"), statuses, margins, strict=True)
    }
    (row,) = screen_of(stored_batch, **given_verdicts)["rows"]
    good = [label for label, verdict in given_verdicts.items()
            if verdict.status in ("good", "identical")]  # fmt: skip
    if good:  # the narrowest comes last
        assert row["sentence"].startswith(f"{good[-1]}, ")
    else:
        assert "suffices." not in row["sentence"]
        worst = min(given_verdicts, key=lambda label: worse_first(given_verdicts[label]))
        assert f"{worst} comes closest" not in row["sentence"] or statuses[0] == statuses[1]


def test_a_folder_of_truths_alone_and_one_of_forty_scenarios_have_a_page(batch, blank_figures):
    alone = replace(batch, runs=tuple(run for run in batch.runs if run.is_truth))
    assert "nothing ran but fp64" in render(alone) and 'id="matrix"' not in render(alone)
    gone = Verdict("failed", "stopped")
    none = {"dataset": None, "comparison": None, "evidence": None, "verdict": gone}
    runs = [replace(run, **none) for run in batch.runs]
    page = render(replace(batch, runs=tuple(runs)))
    assert "nothing can be compared, because fp64 itself failed: stopped." in page
    assert "<small>nothing" not in page and "arithmetic came" not in page
    many = [
        replace(run, scenario=f"case_{n}", **none)
        for n in range(40) for run in batch.of_scenario("little_climate")
    ]  # fmt: skip
    page = render(replace(batch, runs=tuple(many)))
    assert "<h1>40 scenarios: which arithmetic suffices</h1>" in page
    matrix = page.partition('id="matrix"')[2].partition("</table>")[0]
    lost = "<small>nothing can be compared, because fp64 itself failed: stopped.</small>"
    assert matrix.count(lost) == 40
    assert "0 of 40" in matrix
    assert 'class="said"' not in page and page.count('href="#scenario-case_7"') == 1
    assert len(matrix) < 30_000


def test_what_is_lost_is_not_called_worse(batch):
    """Of a run without a file nothing is known; without its truth nothing is, of any run."""
    truth, fp32, fp16 = batch.of_scenario("little_climate")
    gone = Verdict("failed", "lost")
    none = {"dataset": None, "comparison": None, "evidence": None, "verdict": gone}
    lost = replace(fp16, **none)
    assert lost.width == fp16.width
    (row,) = first_screen(replace(batch, runs=(truth, fp32, lost)))["rows"]
    said = "fp32, 24 bits, is the smallest that suffices; nothing is known of fp16."
    assert row["sentence"] == said
    (row,) = first_screen(replace(batch, runs=(truth, fp32)))["rows"]
    assert row["sentence"] == "fp32, 24 bits, suffices; nothing else ran but fp64."
    stopped = [replace(run, verdict=gone) for run in (fp32, fp16)]
    (row,) = first_screen(replace(batch, runs=(truth, *stopped)))["rows"]
    assert row["sentence"] == "no arithmetic came to its end: lost."
    screen = first_screen(replace(batch, runs=(replace(truth, **none), fp32, fp16)))
    assert screen["title"] == "little_climate: nothing can be compared"
    assert screen["columns"] == ["fp32", "fp16"]


def test_the_first_row_of_many_counts_where_an_arithmetic_suffices(batch, blank_figures):
    good, bad = Verdict("good", "well", 0.5), Verdict("beyond", "far", 3.0)
    flow, many = batch.of_scenario("little_climate"), []
    for n in range(MOST_AT_ONCE + 1):
        verdicts = {"fp32": good, "fp16": good if n < 2 else bad}
        many += [replace(run, scenario=f"case_{n}", verdict=verdicts.get(run.label, run.verdict))
                 for run in flow[: 2 + (n < 5)]]  # fmt: skip
    screen = first_screen(replace(batch, runs=tuple(many)))
    assert screen["many"] and screen["totals"] == [[("", 9, 9)], [("", 2, 5)]]
    few = first_screen(replace(batch, runs=tuple(r for r in many if r.scenario != "case_0")))
    assert not few["many"]


# ---- what an arithmetic would save, and what it took ------------------------------------------


def test_savings_are_bits_and_bytes_over_those_of_fp64(batch):
    flow = batch.of_scenario("little_climate")
    carry = CompensationChoice(name="carry")
    carried = [replace(run, variant=Variant(run.backend, carry)) for run in flow]
    rows = {row["label"]: row for row in savings_rows([*flow, *carried[1:]])}
    assert list(rows) == ["fp32", "fp16", "fp32+carry", "fp16+carry"]
    assert [rows[name]["operations"] for name in ("fp32", "fp16")] == ["0.5", "0.25"]
    own = f"{CARRY_FLOPS} operations for each number of the state and update"
    assert rows["fp16+carry"]["operations"] == f"0.25, plus {own} (carry)"
    assert [row["bytes"] for row in rows.values()] == [4, 2, 8, 4]
    assert rows["fp16"]["traffic"] == 0.25
    assert rows["fp16+carry"]["traffic"] == pytest.approx(5 / 3 * 0.25)
    assert rows["fp32"]["machines"] == "A100" and rows["fp16"]["machines"] == "MLU370, A100"
