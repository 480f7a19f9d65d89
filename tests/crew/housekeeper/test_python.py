"""What the housekeeper does to Python, and which imports it knows better than to remove."""

from typing import Any


def test_what_a_package_offers_stays_and_is_told_once(repo: Any) -> None:
    offered = "from pkg.a import one\nfrom pkg.b import two\n"
    repo.commit({"pkg/__init__.py": offered, "pkg/a.py": "one = 1\n", "pkg/b.py": "two = 2\n"})
    done = repo.execute()
    assert done.commits == ()
    assert [(f.rule, f.path, f.line) for f in done.left] == [("F401", "pkg/__init__.py", 1)]
    assert "and 1 more; kept because a package's __init__ may offer it" in done.left[0].message


def test_imports_that_only_look_unused_stay(repo: Any) -> None:
    repo.commit(
        {
            "pkg/__init__.py": "",
            "pkg/compat.py": "import json\nimport os\nfrom http import cookiejar as cookies\n",
            "pkg/star.py": "import string\n",
            "pkg/patched.py": "import socket\n",
            "pkg/use.py": "from pkg.compat import cookies, json\nfrom pkg.star import *\n\nprint(cookies, json)\n",
            "pkg/act.py": "import readline\nimport pkg.use\nimport re\n",
            "pkg/fall.py": "try:\n    import fast\nexcept ImportError:\n    import slow as fast\n",
            "wsgi.py": "from pkg.act import app\n",
            "pkg/told.py": "import re\n\n# Wanted early, see issue 12.\nimport encodings.idna\n",
            "tests/test_a.py": "from fixtures_here import client\n\n\ndef test_a(client):\n"
            "    patch('pkg.patched.socket')\n",
            "tests/test_b.py": "def test_b():\n    from pkg import use\n",
            "tests/conftest.py": "from fixtures_here import client\n",
        }
    )
    repo.execute()
    assert repo.read("pkg/compat.py") == b"import json\nfrom http import cookiejar as cookies\n"
    assert repo.read("pkg/star.py") == b"import string\n"
    assert repo.read("pkg/patched.py") == b"import socket\n"
    assert repo.read("pkg/act.py") == b"import readline\nimport pkg.use\n"
    assert repo.read("pkg/fall.py") == b"try:\n    import fast\nexcept ImportError:\n    import slow as fast\n"
    assert repo.read("wsgi.py") == b"from pkg.act import app\n"
    assert repo.read("pkg/told.py") == b"\n# Wanted early, see issue 12.\nimport encodings.idna\n"
    assert repo.read("tests/test_a.py").startswith(b"from fixtures_here import client\n")
    assert b"from pkg import use" in repo.read("tests/test_b.py")
    assert repo.read("tests/conftest.py") == b"from fixtures_here import client\n"


def test_an_import_hidden_behind_another_of_its_name_is_not_dragged_along(repo: Any) -> None:
    text = (
        "import sys\n\nif sys.version_info[0] == 2:\n    import cookielib\n"
        "else:\n    from http import cookiejar as cookielib\n"
    )
    repo.commit({"compat.py": text, "use.py": "from compat import cookielib\n\nprint(cookielib)\n"})
    repo.execute()
    assert repo.read("compat.py").decode() == text


def test_the_projects_own_settings_decide(repo: Any) -> None:
    settings = '[tool.ruff.lint]\nselect = ["F", "I"]\nunfixable = ["F541"]\n'
    base = repo.commit({"pyproject.toml": settings, "a.py": 'import sys\nimport os\n\nprint(os, sys, f"x")\nx = 1  \n'})
    done = repo.execute()
    assert repo.subjects(base) == ["Sort imports by the project's own rules (I)"]
    assert repo.read("a.py") == b'import os\nimport sys\n\nprint(os, sys, f"x")\nx = 1  \n'
    assert [f.rule for f in done.left] == ["F541"]


def test_import_order_is_nobodys_business_unless_configured(repo: Any) -> None:
    repo.commit({"a.py": "import sys\nimport os\n\nprint(os, sys)\n"})
    assert repo.execute().commits == ()


def test_settings_count_for_the_folder_they_lie_in(repo: Any) -> None:
    repo.commit({"sub/ruff.toml": 'lint.select = ["E9"]\n', "sub/a.py": "import os\n", "b.py": "import os\n"})
    done = repo.execute()
    assert [f.path for f in done.fixed] == ["b.py"]
    assert repo.read("sub/a.py") == b"import os\n"


def test_unsafe_fixes_are_never_made_even_if_the_settings_allow_them(repo: Any) -> None:
    settings = '[tool.ruff]\nunsafe-fixes = true\nfix = true\n[tool.ruff.lint]\nselect = ["F"]\n'
    repo.commit({"pyproject.toml": settings, "a.py": "def f():\n    x = 1\n"})
    done = repo.execute()
    assert done.commits == ()
    assert [f.rule for f in done.left] == ["F841"]


def test_settings_this_ruff_cannot_use_leave_the_python_alone(repo: Any) -> None:
    repo.commit({"ruff.toml": 'required-version = "==0.0.1"\n', "a.py": "import os\n", "n.txt": "a \n"})
    done = repo.execute()
    assert [c.subject for c in done.commits] == ["Strip trailing white space"]
    assert "ruff settings cannot be used (Required version" in done.summary


def test_formatting_happens_only_when_the_project_asks(repo: Any) -> None:
    ugly = "x = {  'a':1 }\n"
    repo.commit({"pyproject.toml": '[tool.black]\n[tool.ruff]\nlint.select = ["F"]\n', "a.py": ugly})
    assert "formatting is left to black" in repo.execute().summary
    assert repo.read("a.py") == ugly.encode()
    base = repo.commit({"pyproject.toml": '[tool.ruff.format]\nquote-style = "single"\n'})
    repo.execute()
    assert repo.subjects(base) == ["Format with the project's own ruff format settings"]
    assert repo.read("a.py") == b"x = {'a': 1}\n"


def test_line_endings_are_kept_whatever_they_are(repo: Any) -> None:
    repo.commit(
        {
            "ruff.toml": 'lint.select = ["F", "W"]\n[format]\nline-ending = "lf"\n',
            "crlf.py": b"import os\r\nx = 1  \r\n",
            "mixed.py": b"import os\r\nx = 1  \ny = 2\r\n",
            "crlf.txt": b"one \r\ntwo",
            "bom.py": b"\xef\xbb\xbfimport os\r\nx = 1\r\n",
        }
    )
    repo.execute()
    assert repo.read("crlf.py") == b"x = 1\r\n"
    assert repo.read("mixed.py") == b"x = 1\ny = 2\r\n"
    assert repo.read("crlf.txt") == b"one\r\ntwo\r\n"
    assert repo.read("bom.py") == b"\xef\xbb\xbfx = 1\r\n"


def test_what_is_not_ours_is_never_touched(repo: Any) -> None:
    mess = "import os\n"
    places = ("vendor/a.py", "x/third_party/a.py", "node_modules/a.py", "p.egg-info/a.py", "build/a.py", "dist/a.py")
    others: dict[str, str | bytes] = {
        "made.py": "# This file was generated by protoc\nimport os\n",
        "marked.py": mess,
        ".gitattributes": "marked.py linguist-generated\n",
        "latin.py": b"# -*- coding: latin-1 -*-\nimport os\nx = '\xe9'\n",
        "binary.txt": b"a \0b \n",
        "tests/fixtures/bad.py": mess,
    }
    (repo.root / "link.py").symlink_to("elsewhere.py")
    repo.commit(others | dict.fromkeys(places, mess))
    (repo.root / "untracked.py").write_text(mess)
    (repo.root / "elsewhere.py").write_text(mess)
    done = repo.execute()
    assert done.commits == done.left == ()
    assert repo.read("elsewhere.py") == repo.read("untracked.py") == mess.encode()


def test_new_syntax_and_python_two_names_are_no_false_alarms(repo: Any) -> None:
    repo.commit(
        {
            "new.py": "type A = int\nmatch A:\n    case _:\n        print(f'{'a'}')\n",
            "old.py": "import sys\n\nif sys.version_info[0] == 2:\n    text = unicode\n",
            "two.py": "print 'a'\nprint 'b'\n",
        }
    )
    assert [(f.rule, f.path, f.line) for f in repo.plan().findings] == [("invalid-syntax", "two.py", 1)]


def test_removing_one_import_does_not_drag_along_what_it_was_hiding(repo: Any) -> None:
    text = (
        "import sys\n\nif sys.version_info[0] == 2:\n    import cookielib  # wanted by plugins\n"
        "else:\n    from http import cookiejar as cookielib\n"
    )
    repo.commit({"compat.py": text})
    repo.execute()
    assert repo.read("compat.py").decode() == text


def test_white_space_inside_strings_stays_even_where_the_settings_allow_unsafe_fixes(repo: Any) -> None:
    settings = '[tool.ruff]\nunsafe-fixes = true\n[tool.ruff.lint]\nselect = ["W"]\n'
    repo.commit({"pyproject.toml": settings, "a.py": 'TEXT = """a\n   \nb"""\nx = 1\n   \ny = 2\n'})
    repo.execute()
    assert repo.read("a.py") == b'TEXT = """a\n   \nb"""\nx = 1\n\ny = 2\n'


def test_only_rules_that_the_project_chose_itself_are_applied(repo: Any) -> None:
    """Flask's examples have settings that choose no rules, and attrs chooses ALL."""
    messy = "import sys\nimport os\n\nprint(os, sys, complex())\nx = 1  \n"
    repo.commit(
        {
            "pyproject.toml": "[tool.ruff.lint]\nselect = ['ALL']\n",
            "a.py": messy,
            "nested/pyproject.toml": "[tool.ruff]\nsrc = ['src']\n",
            "nested/a.py": messy,
            "chosen/ruff.toml": "extend = '../base.toml'\n[lint]\nextend-select = ['W']\n",
            "base.toml": "lint.select = ['I']\n",
            "chosen/a.py": messy,
        }
    )
    repo.execute()
    assert repo.read("a.py").decode() == messy.replace("1  ", "1")
    assert repo.read("nested/a.py").decode() == messy.replace("1  ", "1") or repo.read("nested/a.py").decode() == messy
    assert repo.read("chosen/a.py") == b"import os\nimport sys\n\nprint(os, sys, complex())\nx = 1\n"
