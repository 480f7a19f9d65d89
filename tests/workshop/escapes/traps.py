"""Traps an agent can leave in its clone for whoever runs git there, or near it; none may ever spring."""

from tests.workshop.escapes.lab import Escape, Lab

NESTED = "git init -q sub; echo a > sub/a; git -C sub config core.fsmonitor $T/x.sh"
GITLINK = (
    "git init -q sub; cd sub; echo a > a; git add a; git commit -qm x; cd ..; git add sub; git commit -qm gl; "
    "git -C sub config core.fsmonitor $T/x.sh; echo b >> sub/a"
)
WORK = "echo 'y = 2' >> src/app.py; git add src; git commit -qm Work"
EDIT = "echo 'z = 3' >> src/app.py"


def _set(key: str, value: str = "$T/x.sh") -> str:
    """Write a setting wherever the agent can, after its own git is done."""
    return f'{WORK}; {EDIT}; for g in $GITS; do git config -f $g/config {key} "{value}"; done'


def _hook(name: str) -> str:
    return f"{WORK}; for g in $GITS; do mkdir -p $g/hooks; cp x.sh $g/hooks/{name}; done"


LIVE = True
TRAPS: dict[str, tuple[str, bool]] = {
    # The cases of the proof, as they look where each job has a clone of its own.
    "hook post-checkout": (_hook("post-checkout"), LIVE),
    "hook pre-commit": (_hook("pre-commit"), LIVE),
    "setting core.fsmonitor, status": (_set("core.fsmonitor"), LIVE),
    "setting core.fsmonitor, diff": (f"{_set('core.fsmonitor')}; git config core.untrackedCache true", LIVE),
    "settings of a worktree only": (
        f"{WORK}; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $T/x.sh",
        LIVE,
    ),
    "commondir to a folder of the agent's": (
        (
            f"{WORK}; mkdir evil; cp -r .git/objects .git/refs .git/packed-refs evil/; "
            "printf '[core]\\n repositoryformatversion=0\\n fsmonitor=%s\\n' $T/x.sh > evil/config; "
            "echo $T/evil > .git/commondir"
        ),
        LIVE,
    ),
    "git folder replaced by a new repository": (
        "mv .git .g; git init -q .; git add -A; git commit -qm x; git config core.fsmonitor $T/x.sh",
        LIVE,
    ),
    "gitlink to a nested repository, status": (GITLINK, LIVE),
    "gitlink to a nested repository, diff": (f"{GITLINK}; {EDIT}", LIVE),
    "gitlink, against core.fsmonitor=false": (f"{GITLINK}; git config core.fsmonitor false", LIVE),
    "gitlink, against ignoring submodules": (f"{GITLINK}; git config submodule.sub.ignore none", LIVE),
    "untracked nested repository, status": (f"{WORK}; {NESTED}", LIVE),
    "untracked nested repository with a commit, add": (
        f"{WORK}; git init -q sub; cd sub; echo a > a; git add a; git commit -qm x; git config core.fsmonitor $T/x.sh",
        LIVE,
    ),
    "nested repository entered by a tool": (f"{WORK}; {NESTED}; mkdir -p src/deep; mv sub src/deep/sub", False),
    "filter clean in attributes and settings": (
        (
            f"echo '*.py filter=x' > .gitattributes; git add .; {WORK}; {EDIT}; "
            'git config filter.x.clean "touch $M; cat"'
        ),
        LIVE,
    ),
    "filter in attributes only": (f"echo '*.py filter=x' > .gitattributes; git add .; {WORK}; {EDIT}", False),
    "textconv in attributes and settings": (
        f"echo '*.py diff=x' > .gitattributes; git add .; {WORK}; {EDIT}; git config diff.x.textconv \"touch $M; cat\"",
        LIVE,
    ),
    "setting diff.external": (_set("diff.external"), LIVE),
    "setting core.sshCommand with an ssh remote": (
        f"{_set('core.sshCommand')}; for g in $GITS; do git config -f $g/config remote.o.url ssh://h.invalid/r; done",
        LIVE,
    ),
    "remote by ext": (
        f"{_set('remote.o.url', 'ext::sh -c $T/x.sh')}; git config protocol.ext.allow always",
        LIVE,
    ),
    "setting credential.helper": (
        f"{_set('credential.helper', '!$T/x.sh')}; git config remote.o.url https://127.0.0.1:1/x",
        False,
    ),
    "setting core.pager": (f"{_set('core.pager')}; git config pager.log $T/x.sh", False),
    "setting gpg.program": (f"{_set('gpg.program')}; git config commit.gpgsign true", LIVE),
    "setting core.hooksPath": (
        (
            f"{_set('core.hooksPath', '$T/h')}; mkdir h; for n in post-index-change pre-commit reference-transaction; "
            "do cp x.sh h/$n; done"
        ),
        LIVE,
    ),
    "fsmonitor against a hardened host": (f"{_set('core.fsmonitor')}; git config core.worktree $T", LIVE),
    "filter process against a hardened host": (
        (
            f"echo '*.py filter=x' > .gitattributes; git add .; {WORK}; {EDIT}; git config filter.x.process $T/x.sh; "
            "git config filter.x.required true"
        ),
        LIVE,
    ),
    # Ten of our own.
    "pack-objects hook": (_set("uploadpack.packObjectsHook"), False),
    "include from a file in the tree": (
        f"printf '[core]\\n fsmonitor=%s\\n' $T/x.sh > src/more; {WORK}; git config include.path ../src/more",
        LIVE,
    ),
    "alternates to the person's objects": (
        (
            f"{WORK}; echo $R/.git/objects >> .git/objects/info/alternates; printf '[core]\\nfsmonitor=%s\\n' $T/x.sh "
            ">> .git/objects/info/config"
        ),
        False,
    ),
    "merge driver and rerere": (
        f"echo '* merge=x' > .gitattributes; git add .; {WORK}; git config merge.x.driver $T/x.sh",
        False,
    ),
    "split index and fsmonitor extension": (
        f"{WORK}; git update-index --split-index; git update-index --fsmonitor; git config core.fsmonitor $T/x.sh",
        LIVE,
    ),
    "git folder is a link to the person's": (
        f"{WORK}; mv .git keep; ln -s $R/.git .git; cp x.sh keep/hooks 2>/dev/null",
        False,
    ),
    "git file that points to a trap": (
        f"{WORK}; mv .git evil; git config -f evil/config core.fsmonitor $T/x.sh; echo 'gitdir: evil' > .git",
        LIVE,
    ),
    "objects folder is a link, index a pipe": (
        f"{WORK}; mv .git/objects o; ln -s ../o .git/objects; rm .git/index; mkfifo .git/index",
        False,
    ),
    "promisor remote that fetches what is missing": (
        (
            f"{WORK}; git config extensions.partialClone o; git config remote.o.promisor true; "
            'git config remote.o.url "ext::sh -c $T/x.sh"; git config protocol.ext.allow always; '
            "rm -f .git/objects/$(git rev-parse HEAD:src/app.py | sed 's,..,&/,')"
        ),
        LIVE,
    ),
    "refs that are options and paths": (
        (
            f"{WORK}; mkdir -p '.git/refs/heads/--upload-pack=$T'; h=$(git rev-parse HEAD); "
            "echo $h > '.git/refs/heads/--exec=x'; echo $h > .git/refs/heads/-x; "
            'echo "$h refs/heads/;touch $M" >> .git/packed-refs'
        ),
        False,
    ),
}


def _escape(name: str, script: str, *, live: bool) -> Escape:
    def run(lab: Lab) -> bool:
        lab.agent_does(script)
        lab.product_does_everything()
        return lab.marker.exists()

    return Escape(name=name, run=run, live=live, script=script)


GIT_ESCAPES = tuple(_escape(name, script, live=live) for name, (script, live) in TRAPS.items())
