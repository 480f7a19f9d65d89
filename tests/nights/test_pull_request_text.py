"""What a reviewer is warned of in the text of a pull request."""

from midwatch.night.delivery.pull_request_text import pull_request_text
from midwatch.terms.jobs import Change, CheckResult, Commit, Coverage, Doubt, Proof
from midwatch.terms.records import ProjectRow
from midwatch.views.text.proof import proof_lines
from tests.journal.samples import _filled
from tests.views.test_live import a_job


def test_issues_that_a_commits_body_would_close_are_told_unless_they_were_ordered() -> None:
    commits = (
        Commit(sha="1" * 40, subject="Greet", closes=("#12", "ada/shop#3")),
        Commit(sha="2" * 40, subject="Fixes #4", closes=("#4",)),
    )
    job = a_job(by_hand=False, title="Do ada/shop#3", change=Change(base="b", head="h", files=(), commits=commits))
    _, body = pull_request_text(job, ProjectRow.model_validate(_filled(ProjectRow)))
    told = [line for line in body.splitlines() if "which was not ordered" in line]
    assert told == [
        "- Merging commit 111111111111 would close `#12`, which was not ordered.",
        "- Merging commit 222222222222 would close `#4`, which was not ordered.",
    ]


def test_a_reviewer_reads_the_same_lines_about_a_proof_as_every_page_and_the_terminal() -> None:
    proof = Proof(
        verdict="green",
        new_tests="fail_on_base",
        coverage=Coverage(covered=3, measurable=4, by="coverage.xml"),
        notes=("The check tox was left out.",),
        doubts=(Doubt(kind="weaker", text="A test was removed.", grave=False),),
    )
    _, body = pull_request_text(a_job(by_hand=False, proof=proof), ProjectRow.model_validate(_filled(ProjectRow)))
    lines = [one.text for one in proof_lines(proof)]
    assert lines == [
        "A test was removed.",
        "New tests fail without the change and pass with it.",
        "The checks ran 3 of 4 changed lines that can be measured (coverage.xml).",
        "The check tox was left out.",
    ]
    assert {f"- {line}" for line in lines} <= set(body.splitlines())
    assert "**Proof.** The checks pass on a fresh checkout." in body.splitlines()


def test_new_tests_are_not_said_to_pass_where_a_check_fails() -> None:
    red = CheckResult(command="cargo test", exit_code=101)
    (line,) = proof_lines(Proof(verdict="worse", new_tests="fail_on_base", before=(), delivered=(red,)))
    assert (line.fine, "that they pass with it is not shown" in line.text) == (None, True)
