"""Works as a person would: looks, plans, runs the tests, edits, writes a test, runs again, commits."""

import json
from dataclasses import replace
from typing import Any

from tests.agents.model import Action, Edit, Read, Say, Shell, Step, Use, Write
from tests.tryout.trees import Tree

INSIDE = "/ws"
"""Where an agent finds the checkout."""


def plan_of(tree: Tree) -> dict[str, Any]:
    """What is planned."""
    work = tree.work
    return {
        "summary": f"{work.title}.",
        "approach": [f"Change {work.edit.path}", f"Show it with a new test in {work.test.path}"],
        "files": [work.edit.path, work.test.path],
        "risks": [],
        "checks": [],
        "estimate_files": 2,
        "estimate_lines": 20,
        "estimate_minutes": 10,
        "blast_radius": "Callers that relied on the old behaviour.",
        "undo": "Revert the commit.",
    }


def steps(agent: str, tree: Tree) -> tuple[Step, ...]:
    """What the model says to this agent about this tree, from the first look to the last word."""
    return (*planning(agent, tree), *working(agent, tree))


def planning(agent: str, tree: Tree) -> tuple[Step, ...]:
    """Look without changing anything, and say what is to be done."""
    work, plan = tree.work, plan_of(tree)
    reads = Read(f"{INSIDE}/{work.edit.path}", work.line)
    if agent == "claude":  # it offers no shell for planning, and wants the plan by a tool
        looks: tuple[Action, ...] = (Use("Glob", {"pattern": "**/*"}), Use("Grep", {"pattern": "test", "path": INSIDE}))
        return (
            Say("I will look around first.", do=looks),
            Say("Where?", do=(reads,)),
            Say(do=(Use("StructuredOutput", plan),)),
        )
    return (
        Say("I will look around first.", do=(Shell(work.looks[0]),)),
        Say("Where is it?", do=(*(Shell(look) for look in work.looks[1:]), reads)),
        Say(json.dumps(plan)),
    )


def working(agent: str, tree: Tree) -> tuple[Step, ...]:
    """Change it, show it by a test, and commit."""
    work = tree.work
    commits = f'git add -A && git commit -q -m "{work.subject}" && git log --oneline -2'
    reads = [Read(f"{INSIDE}/{work.edit.path}", work.line)]
    reads += [Read(f"{INSIDE}/{work.test.path}", 1)] if isinstance(work.test, Edit) else []
    return (
        Say("First the state of the tests.", do=(Shell(tree.suite),)),
        Say("They pass. Now the file itself.", do=tuple(reads)),
        Say("This is the place.", do=(edited(agent, work.edit),)),
        Say("A test that fails without it.", do=(tested(agent, work.test),)),
        Say("Does it pass?", do=(Shell(f"cd {INSIDE} && {work.narrow}"),)),
        Say("And all the others?", do=(Shell(tree.suite),)),
        Say("What did I change?", do=(Shell("git status --short && git diff --stat"),)),
        Say("I commit it.", do=(Shell(commits),)),
        Say(f"{work.subject}: one change in {work.edit.path}, shown by {work.test.path}. All tests pass."),
    )


def edited(agent: str, edit: Edit) -> Action:
    """Change a file the way this agent's models do; Codex's call apply_patch in its shell."""
    if agent == "codex":
        lines = [*(f"-{line}" for line in edit.old.splitlines()), *(f"+{line}" for line in edit.new.splitlines())]
        return patched(f"*** Update File: {edit.path}\n@@\n" + "\n".join(lines))
    return replace(edit, path=f"{INSIDE}/{edit.path}")


def tested(agent: str, test: Write | Edit) -> Action:
    """Write a test the way this agent's models do, in a new file or in one that is there."""
    if isinstance(test, Edit):
        return edited(agent, test)
    if agent == "codex":
        return patched(f"*** Add File: {test.path}\n" + "\n".join(f"+{line}" for line in test.content.splitlines()))
    return replace(test, path=f"{INSIDE}/{test.path}")


def patched(body: str) -> Action:
    return Shell(f"apply_patch <<'PATCH'\n*** Begin Patch\n{body}\n*** End Patch\nPATCH")
