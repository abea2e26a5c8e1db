"""The template language."""

from __future__ import annotations

import pytest

from spanloom.base.errors import ParameterError
from spanloom.features import FeatureSet
from spanloom.features.grammar import parse_template
from spanloom.features.sets import NAMED


@pytest.mark.parametrize(
    ("text", "templates"),
    [
        ("word", ["word[0]"]),
        ("word[-2..2]", ["word[-2]", "word[-1]", "word[0]", "word[1]", "word[2]"]),
        ("word[-1] & word[0]", ["word[-1] & word[0]"]),
        ("word[-1..0]&pos", ["word[-1] & pos[0]", "word[0] & pos[0]"]),
        ("suffix( word ,1..4 )[ 0 ]", ["suffix(word, 1..4)[0]"]),
        ("prefix(lower(word), 3)", ["prefix(lower(word), 3)[0]"]),
        ("bag(word, -2..2)", ["bag(word, -2..2)"]),
        ("own[-1..0]", ["own[-1]", "own"]),
        ("bias", ["bias"]),
        ("word >= 3", ["word[0] >= 3"]),
        ("flags(word, both, all_caps)", ["flags(word, both, all_caps)[0]"]),
        ("cluster(word, brown, 6, 4)", ["cluster(word, brown, 4, 6)[0]"]),
        ("lookup(word, names)[1]", ["lookup(word, names)[1]"]),
        ('"lower"[+1]', ['"lower"[1]']),
        ('shape("my col")', ['shape("my col")[0]']),
    ],
)
def test_templates_read_and_written(text: str, templates: list[str]) -> None:
    """Text becomes templates, and a template's own text means the same template."""
    parsed = parse_template(text)
    assert [str(t) for t in parsed] == templates
    assert [parse_template(str(t)) for t in parsed] == [[t] for t in parsed]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at 0: expected a column or an operation, found the end"),
        ("word[", "at 5: expected an offset, found the end"),
        ("word[0", "at 6: expected ']', found the end"),
        ("word[2..-2]", "at 6: the range 2..-2 runs backwards"),
        ("word[101]", "at 5: an offset must be within -100..100, got 101"),
        ("word[" + "9" * 5000 + "]", "at 5: an offset must be within -100..100"),
        ("word pos", "at 5: expected '&', '>=' or the end, found 'pos'"),
        ("word &", "at 6: expected a column or an operation, found the end"),
        ("upper(word)", "at 0: unknown operation 'upper'; there are lower, shape"),
        ("prefix(word)", "at 11: expected ',', found ')'"),
        ("prefix(word, 0..2)", "at 13: a length must be within 1..1000, got 0"),
        ("flags(word, tall)", "at 12: expected a flag (all_caps"),
        ("lower", "at 0: 'lower' cannot stand here alone"),
        ("word & own", "at 7: 'own' cannot stand here alone"),
        ("bias & word", "at 5: expected '&', '>=' or the end, found '&'"),
        ("word ; pos", "at 5: unexpected character ';'"),
        ("word >= 0", "at 8: a count must be within 1..2147483648, got 0"),
        ("lower(" * 20 + "word" + ")" * 20, "nested more than 16 deep"),
        ("word[-100..100] & word[-100..100]", "this stands for 40401 templates; at most 1000"),
    ],
)
def test_errors_say_where_and_what(text: str, message: str) -> None:
    """A template that is not understood gives the position, what is wrong and what could stand there."""
    with pytest.raises(ParameterError) as error:
        parse_template(text)
    assert message in str(error.value)


@pytest.mark.parametrize("name", NAMED)
def test_named_sets_parse(name: str) -> None:
    """Every named set is well-formed, given the clusters that some ask for."""
    assert FeatureSet.named(name, {"brown": {"gene": ["0101"]}}).parsed()


def test_repeated_templates_count_once() -> None:
    """Two lines may overlap; a template is taken once."""
    assert [str(t) for t in FeatureSet(["word[-1..0]", "word[0]"]).parsed()] == ["word[-1]", "word[0]"]


def test_settings_are_checked() -> None:
    """Bad settings name the value and what is allowed."""
    with pytest.raises(ParameterError, match=r"no feature set 'best'; there are default"):
        FeatureSet.named("best")
    with pytest.raises(ParameterError, match="min_count must be an integer"):
        FeatureSet(["word"], min_count=0)
    with pytest.raises(ParameterError, match="list of strings"):
        FeatureSet("word")
    with pytest.raises(ParameterError, match="at least one template"):
        FeatureSet([])
    with pytest.raises(ParameterError, match="looks up the resource 'brown'; resources given: none"):
        FeatureSet(["lookup(word, brown)"])


def test_file_of_features(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """A TOML file gives templates, cut-off and tables; paths count from its folder."""
    (tmp_path / "paths").write_text("0010\tgene\t4\n0011\tof\t9\n", encoding="utf-8")
    (tmp_path / "names.tsv").write_text("Paris\tCITY\tPERSON\nParis\tMYTH\r\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text(
        'templates = ["word[-1..1]", "cluster(word, brown, 2)", "lookup(word, names)"]\nmin_count = 2\n'
        '[resources]\nnames = "names.tsv"\nbrown = {path = "paths", format = "brown"}\n',
        encoding="utf-8",
    )
    features = FeatureSet.from_toml(tmp_path / "mine.toml")
    assert (features.name, features.min_count, len(features.parsed())) == ("mine", 2, 5)
    assert features.values("cluster(word, brown, 2)", "gene") == ["00"]
    assert features.values("lookup(word, names)", "Paris") == ["CITY", "PERSON", "MYTH"]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("templates = ['word']\nextra = 1", "unknown key 'extra'"),
        ("templates = 'word'", "templates must be a list"),
        ("templates = ['word[']", "at 5: expected an offset"),
        ("templates = ['word']\nmin_count = 1.5", "min_count must be an integer"),
        ("templates = [3]", "a template must be a string, got 3"),
        ("templates = ['word']\nname = 3", "name must be a string"),
        ("templates = ['word']\n[resources]\nx = 4", "resource 'x' must be a path"),
        ("templates = ['word']\n[resources]\nx = 'no.tsv'", "no.tsv: cannot be read"),
        ("templates = ['word']\n[resources]\nx = {path = 'bad', format = 'xml'}", "must be one of tsv, brown"),
        ("templates = ['word']\n[resources]\nx = 'bad'", "bad:2: expected a word and its values"),
        ("templates = ['word']\n[resources]\nx = {path = 'bad', format = 'brown'}", "bad:1: expected bits, word"),
        ("templates = [", "not a TOML file"),
    ],
)
def test_bad_files_name_the_place(tmp_path, toml: str, message: str) -> None:  # type: ignore[no-untyped-def]
    """A file that is not right gives its name and the reason."""
    (tmp_path / "bad").write_text("a\tb\nc\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(Exception, match=r"mine\.toml|no\.tsv|bad") as error:
        FeatureSet.from_toml(tmp_path / "mine.toml")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("word[left] & pos[right-1]", "word[left] & pos[right-1]"),
        ("lower(word)[ between ]", "lower(word)[between]"),
        ("segment(pos)[between]", "segment(pos)[between]"),
        ("segment( pos ) [ left .. right ]", "segment(pos)[left..right]"),
        ("pos[left + 2]", "pos[left+2]"),
        ("distance", "distance"),
    ],
)
def test_templates_of_pairs(text: str, same: str) -> None:
    (template,) = parse_template(text)
    assert template.of_pairs
    assert str(template) == same
    assert parse_template(same) == [template]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[left] & word[0]", "give every atom a side, or none"),
        ("word[between] & pos[between]", "once only"),
        ("word[left] >= 3", "take no count"),
        ("word[right+101]", "within -100..100"),
        ("word[between+1]", "expected"),
        ("segment(word)[left]", "expected '&', '>=' or the end"),
    ],
)
def test_mistakes_in_templates_of_pairs(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_template(text)
