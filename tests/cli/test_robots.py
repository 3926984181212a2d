from kinetarium.model.load import catalogue_names

NINE = {
    "panda", "ur5", "two-link", "husky4", "husky2", "scout", "husky4-panda", "scout-panda", "kr250",
}  # fmt: skip


def test_for_programs(call):
    outcome = call("robots", "--json", "-")
    assert outcome.code == 0
    robots = outcome.json["robots"]
    assert {robot["name"] for robot in robots} == NINE == set(catalogue_names())
    for robot in robots:
        assert robot["links"] == robot["joints"] + 1
        assert robot["mass_kg"] > 0
        assert robot["title"] and robot["sources"]
        assert isinstance(robot["free_base"], bool) and isinstance(robot["tool"], str)


def test_for_people(call):
    code, out, err = call("robots")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 1 + len(NINE)
    assert [line.split()[0] for line in lines[1:]] == list(catalogue_names())
    assert "mass [kg]" in lines[0]


def test_page(call, tmp_path):
    out = tmp_path / "deep" / "er"
    code, said, err = call("robots", "--out", out)
    assert (code, err) == (0, "")
    report = out / "report.html"
    assert said.splitlines()[-1].endswith(str(report))
    html = report.read_text("utf-8")
    assert html.count('<figure class="scene"') == len(NINE)
    assert f"kinetarium robots --out {out}" in html
    from plotly.offline import get_plotlyjs

    assert html.count(get_plotlyjs()) == 1
    assert len(html) - len(get_plotlyjs()) < 8e6


def test_page_that_cannot_be_written(call, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "taken" / "report.html").mkdir(parents=True)
    for out in ("file", "file/below", "taken"):
        code, said, err = call("robots", "--out", tmp_path / out)
        assert (code, said) == (2, "")
        assert err.count("\n") == 1 and "cannot write" in err


def test_readers_that_leave(shell):
    assert shell("$K robots | true") == (0, "", "")
