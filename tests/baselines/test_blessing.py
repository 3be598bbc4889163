"""Blessing with a reason, and what a check leaves for others: page, JUnit XML, Markdown."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.foundation.targets import MARKDOWN
from sciprec.results.comparison.junit import JUnitCase, junit_text


def shifted(by):
    """A change: all values of the run in binary32, by a share."""
    return lambda d, b: d.assign(field=d.field * (1.0 + by)) if b == "fp32" else d


def bless(call, reason, *options):
    return call("baseline", "bless", "made_up", "--reason", reason, "-q", *options)


@pytest.mark.slow
def test_what_is_blessed_is_the_baseline_from_then_on(call, saved, planted):
    planted.change = shifted(1e-3)
    assert call("baseline", "check", "-q")[0] == NOT_MET
    assert bless(call, "a better scheme")[0] == GOOD
    assert call("baseline", "check", "-q", "--exact")[0] == GOOD
    shown = json.loads(call("baseline", "show", "made_up", "--json")[1])
    first, second = shown["history"]
    assert (first["reason"], second["reason"]) == ("saved", "a better scheme")
    assert second["found"] == {"identical": 1, "changed": 1}
    assert second["errors"]["fp32"]["field"] == pytest.approx(1e-3, rel=0.01)
    assert "a better scheme" in call("baseline", "show", "made_up")[1]
    planted.change = lambda d, b: d
    code, out, _ = call("baseline", "check", "-q")
    assert code == NOT_MET and "fp32, field: changed" in out


def test_bad_blessings(call, saved, planted):
    for reason in ("", "  "):
        code, _, err = bless(call, reason)
        assert code == USAGE and "no reason was given; say with --reason" in err
    planted.change = lambda d, b: 1 / 0
    before = (saved / "baselines/made_up/baseline.json").read_bytes()
    code, _, err = bless(call, "why not")
    assert code == USAGE and "fp64 gives nothing to keep" in err
    assert (saved / "baselines/made_up/baseline.json").read_bytes() == before


@pytest.mark.slow
def test_files_for_others(call, saved, planted, blank_figures):
    planted.change = shifted(1e-3)
    bless(call, "worse for now")
    planted.change = shifted(1e-5)
    paths = [saved / name for name in ("page.html", "junit.xml", "summary.md")]
    options = ("--html", paths[0], "--junit-xml", paths[1], "--markdown", paths[2])
    assert call("baseline", "check", "-q", *options)[0] == NOT_MET
    page, junit, summary = (path.read_text(encoding="utf-8") for path in paths)
    assert "<h1>1 of 1 baselines changed: made_up</h1>" in page and "What got better" in page
    assert "worse for now" in page and "<svg" in page and "<script" not in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert summary.startswith(f"{MARKDOWN.mark}\n### Precision: 1 of 1 baseline changed\n")
    assert "| made_up | fp32 | field | changed | " in summary
    assert "  - better: fp32, field" in summary
    suites = ElementTree.fromstring(junit)
    cases = {case.get("name"): case for case in suites.iter("testcase")}
    assert cases["fp32, field"].find("failure").get("type") == "changed"
    assert cases["fp64, field"].find("failure") is None
    properties = cases["fp32, field"].iter("property")
    told = {one.get("name"): float(one.get("value")) for one in properties}
    assert told["max_abs"] > told["max_abs_noise"] > 0 and told["error_now"] < told["error_then"]
    again = saved / "again.html"
    call("baseline", "check", "-q", "--html", again)
    assert again.read_text(encoding="utf-8") == page
    code, _, err = call("baseline", "check", "--html", "nowhere/page.html")
    assert code == USAGE and "its folder does not exist" in err


def test_a_batch_as_junit(call, planted, repository, monkeypatch):
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder)
    planted.change = lambda d, b: 1 / 0 if b == "fp32" else d
    assert call("run", "made_up.toml", "--junit-xml", "j.xml", "-q")[0] == NOT_MET
    planted.change = lambda d, b: d
    cases = {one.get("name"): one for one in ElementTree.parse("j.xml").iter("testcase")}
    assert cases["fp32"].find("failure").get("type") == "failed"
    assert call("run", "made_up.toml", "--junit-xml", "j.xml", "-q")[0] == GOOD
    cases = {one.get("name"): one for one in ElementTree.parse("j.xml").iter("testcase")}
    assert cases["fp32"].find("failure") is None
    assert "relative_l2" in [one.get("name") for one in cases["fp32"].iter("property")]


def test_junit_is_xml_whatever_is_said():
    odd = "".join(map(chr, range(32))) + "<&\"'>\ufffe"
    told = {"x": np.nan, "y": 1.5, "w": odd}
    cases = [JUnitCase(odd, odd, "v", odd, failed, told) for failed in (True, False)]
    text = junit_text({odd: cases})
    (suite,) = ElementTree.fromstring(text)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [one.get("name") for one in suite[0].iter("property")] == ["y", "w"]
