from pathlib import Path

from midwatch.terms.house import SessionState
from midwatch.terms.records import ActRow, AskRow, JobRow, PullRequestRow, ReportRow, RunRow
from midwatch.terms.trust import Level
from tests.nights.house import a_house, git, orders, sample_repository


async def test_a_fresh_install_delivers_a_pull_request_the_first_night(tmp_path: Path) -> None:
    source = sample_repository(tmp_path / "sample")
    async with a_house(tmp_path / "home") as house:
        await house.project(source)
        await house.begin(orders("Tidy up", level=Level.CAUTIOUS))
        session = await house.to_the_brief()
        records = house.house.records
        print([(j.state, j.stage, j.why) for j in await records.find(JobRow)])
        print([(a.kind, a.state, a.text) for a in await records.find(ActRow)])
        print([(a.kind, a.state, a.question) for a in await records.find(AskRow)])
        assert session.state is SessionState.DEBRIEF
        assert [pr.branch for pr in await records.find(PullRequestRow)]
        report = (await records.find(ReportRow))[0]
        print(report.brief.headline)
        for section in report.brief.sections:
            print("##", section.title)
            for line in section.lines:
                print("  ", line)
        print(report.brief.words, [(r.score_pre, r.scores) for r in await records.find(RunRow)])
        print(git(source, "branch", "-a"))
