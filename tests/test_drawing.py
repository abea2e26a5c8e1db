"""Drawings; every expected one is written by hand from the rules that `spanloom.drawing.picture` states."""

from __future__ import annotations

import io
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.drawing import draw, draw_pair, label_style


def sentence_of(text: str) -> Sentence:
    """Tokens end at blanks, and at ``_`` where there is no blank in the text."""
    return Sentence(text.replace("_", " ").split(), text=text.replace("_", ""))


def check(text: str, mentions: list[Mention], *expected: str, width: int = 80, ascii_only: bool = False) -> None:
    """The drawing has these lines, whatever the order of the mentions."""
    for order in (mentions, mentions[::-1]):
        drawn = draw(sentence_of(text), order, width=width, ascii_only=ascii_only).plain
        assert drawn.split("\n") == list(expected)


def test_flat_mentions_share_a_row() -> None:
    """A caption goes between the corners if it fits, else after the bracket."""
    check(
        "Anna Lindqvist left Oslo today",
        [Mention("PER", ((0, 2),)), Mention("LOC", ((3, 4),))],
        "Anna Lindqvist left Oslo today",
        "╰─── PER ────╯      ╰──╯ LOC",
    )


def test_caption_that_just_fits_has_no_blanks() -> None:
    check("in Paris now", [Mention("LOC", ((1, 2),))], "in Paris now", "   ╰LOC╯")


def test_one_cell_mention_is_a_tick() -> None:
    check("vitamin C helps", [Mention("drug", ((1, 2),))], "vitamin C helps", "        ╵ drug")


def test_probability_stands_after_the_label() -> None:
    check(
        "activated T cells",
        [Mention("cell_type", ((1, 3),), prob=0.926), Mention("cell_type", ((0, 3),), prob=1.0)],
        "activated T cells",
        "          ╰─────╯ cell_type 0.93",
        "╰cell_type 1.00─╯",
    )


def test_nested_mentions_are_stacked_innermost_nearest_to_the_text() -> None:
    check(
        "the human IL_-_2 gene in T cells",
        [Mention("DNA", ((1, 6),)), Mention("protein", ((2, 5),)), Mention("protein", ((1, 5),))],
        "the human IL-2 gene in T cells",
        "          ╰──╯ protein",
        "    ╰protein─╯",
        "    ╰──── DNA ────╯",
    )


def test_same_type_nested_and_same_span_mentions_have_their_own_rows() -> None:
    """Mentions of one span are in the order of their labels."""
    check(
        "New York City Hall",
        [Mention("LOC", ((0, 2),)), Mention("LOC", ((0, 3),)), Mention("ORG", ((0, 4),)), Mention("FAC", ((0, 4),))],
        "New York City Hall",
        "╰ LOC ─╯",
        "╰─── LOC ───╯",
        "╰───── FAC ──────╯",
        "╰───── ORG ──────╯",
    )


def test_crossing_mentions_have_their_own_rows() -> None:
    check(
        "human T cell line Jurkat",
        [Mention("cell_type", ((0, 3),)), Mention("cell_line", ((1, 5),))],
        "human T cell line Jurkat",
        "╰cell_type─╯",
        "      ╰── cell_line ───╯",
    )


def test_parts_of_a_discontinuous_mention_are_joined_by_dots() -> None:
    """The caption is in a part that holds it with blanks, else in a gap, else after the last part."""
    check(
        "potassium and magnesium replacement",
        [Mention("treatment", ((0, 1), (3, 4))), Mention("treatment", ((2, 4),))],
        "potassium and magnesium replacement",
        "              ╰──── treatment ────╯",
        "╰───────╯┈┈ treatment ┈┈╰─────────╯",
    )
    check(
        "interleukin_-_2 and _-_4 bind",
        [Mention("protein", ((0, 3),)), Mention("protein", ((0, 1), (4, 6)))],
        "interleukin-2 and -4 bind",
        "╰─ protein ─╯",
        "╰ protein ╯┈┈┈┈┈┈┈╰╯",
    )
    check(
        "IL_-_2 and _-_4 bind",
        [Mention("protein", ((0, 1), (4, 6)))],
        "IL-2 and -4 bind",
        "╰╯┈┈┈┈┈┈┈╰╯ protein",
    )


def test_mention_that_covers_the_gap_of_another_is_drawn_nearer() -> None:
    check(
        "Anna and her son Ole Berg",
        [Mention("PER", ((0, 1), (5, 6))), Mention("PER", ((2, 6),))],
        "Anna and her son Ole Berg",
        "         ╰──── PER ─────╯",
        "╰──╯┈┈┈┈┈┈ PER ┈┈┈┈┈┈╰──╯",
    )


def test_caption_goes_before_the_bracket_at_the_end_of_a_line() -> None:
    check("we saw IL_-_2", [Mention("protein", ((2, 5),))], "we saw IL-2", "       ╰──╯ protein", width=20)
    check("it was we saw IL_-_2", [Mention("protein", ((4, 7),))], "it was we saw IL-2", "      protein ╰──╯", width=20)


def test_caption_beside_a_bracket_never_touches_the_next_bracket() -> None:
    """Oslo's caption would end where Rome begins, so Rome takes the next row; with one blank between it may stay."""
    cities = [Mention("LOCA", ((0, 1),)), Mention("LOC", ((2, 3),))]
    check("Oslo toor Rome", cities, "Oslo toor Rome", "╰──╯ LOCA ╰──╯ LOC")
    check("Oslo tor Rome", cities, "Oslo tor Rome", "╰──╯ LOCA", "         ╰──╯ LOC")


def test_wrapped_mention_goes_on_without_corners() -> None:
    check(
        "the governor of the northern province of Aldmark resigned",
        [Mention("PER", ((0, 8),)), Mention("LOC", ((4, 8),)), Mention("LOC", ((7, 8),))],
        "the governor of the",
        "╰────── PER ───────",
        "",
        "northern province of",
        "╰────── LOC ────────",
        "─────── PER ────────",
        "",
        "Aldmark resigned",
        "╰ LOC ╯",
        "─ LOC ╯",
        "─ PER ╯",
        width=23,
    )


def test_dots_go_on_over_a_wrap() -> None:
    check(
        "potassium and also some magnesium replacement",
        [Mention("drug", ((0, 1), (5, 6)))],
        "potassium and",
        "╰ drug ─╯┈┈┈┈",
        "",
        "also some",
        "┈ drug ┈┈",
        "",
        "magnesium",
        "┈ drug ┈┈",
        "",
        "replacement",
        "╰─ drug ──╯",
        width=14,
    )


def test_long_words_break_at_token_edges_and_then_anywhere() -> None:
    check("see abc_-_def_-_ghij", [], "see", "abc-def-", "ghij", width=9)
    check("abcdefghij", [Mention("X", ((0, 1),))], "abcd", "╰X──", "", "efgh", "─X──", "", "ij", "─╯ X", width=4)


def test_wide_and_combining_characters_are_measured_in_cells() -> None:
    """A Han character takes two cells, a combining accent none."""
    check(
        "日本_の_首相_が 東京",
        [Mention("LOC", ((0, 1),)), Mention("PER", ((0, 3),)), Mention("LOC", ((4, 5),))],
        "日本の首相が 東京",
        "╰──╯ LOC     ╰──╯ LOC",
        "╰─ PER ──╯",
    )
    check("Re\u0301ne\u0301e left", [Mention("PER", ((0, 1),))], "Re\u0301ne\u0301e left", "╰PER╯")
    check("in Oslo", [Mention("地名", ((1, 2),))], "in Oslo", "   ╰──╯ 地名")
    check("東京都", [Mention("L", ((0, 1),))], "東京", "╰L──", "", "都", "─╯ L", width=5)


def test_text_is_shown_as_written_but_cannot_steer_the_terminal() -> None:
    """White space becomes one blank; control characters are replaced, direction marks left out."""
    sentence = Sentence(["a\x1b[2Jb", "c\u202ed"], text="a\x1b[2Jb \t\n c\u202ed")
    assert draw(sentence, [], width=80, ascii_only=False).plain == "a\ufffd[2Jb cd"
    assert draw(sentence, [], width=80, ascii_only=True).plain == "a?[2Jb cd"


def test_tokens_that_share_characters_are_shown_apart() -> None:
    sentence = Sentence(["al", "il"], text="al", spans=[(0, 2), (0, 2)])
    assert draw(sentence, [Mention("X", ((1, 2),))], width=80, ascii_only=False).plain == "al il\n   ╰╯ X"


def test_ascii_lines() -> None:
    check(
        "potassium and magnesium replacement in C",
        [Mention("treatment", ((0, 1), (3, 4))), Mention("treatment", ((2, 4),)), Mention("X", ((5, 6),))],
        "potassium and magnesium replacement in C",
        r"              \____ treatment ____/    ^ X",
        r"\_______/.. treatment ..\_________/",
        ascii_only=True,
    )


def test_nothing_to_draw() -> None:
    assert draw(Sentence([]), width=10).plain == ""
    check("no mention", [], "no mention")


def test_pair_shows_gold_above_and_prediction_below() -> None:
    gold = [Mention("protein", ((2, 5),)), Mention("DNA", ((1, 6),)), Mention("cell_type", ((7, 9),))]
    predicted = [Mention("DNA", ((1, 6),)), Mention("DNA", ((7, 9),))]
    sentence = sentence_of("the human IL_-_2 gene in T cells")
    assert draw_pair(sentence, gold, predicted, width=80, ascii_only=False).plain.split("\n") == [
        "gold      ╭─── ✓ DNA ───╮    ╭─────╮ ✗ cell_type",
        "                ╭──╮ ✗ protein",
        "      the human IL-2 gene in T cells",
        "pred      ╰─── ✓ DNA ───╯    ╰+ DNA╯",
    ]


def test_pair_differs_by_label_and_by_parts() -> None:
    """The same tokens with another label are one missed and one spurious mention."""
    drawn = draw_pair(
        sentence_of("in Paris"),
        [Mention("LOCATION", ((1, 2),))],
        [Mention("PER", ((1, 2),))],
        width=80,
        ascii_only=True,
    )
    assert drawn.plain.split("\n") == [
        r"gold     /---\ - LOCATION",
        r"      in Paris",
        r"pred     \___/ + PER",
    ]
    assert {str(span.style) for span in drawn.spans} == {"dim", "red", "yellow"}


def test_pair_is_wrapped_with_its_margin() -> None:
    """Six cells of margin leave thirteen, enough for two words of six."""
    both = [Mention("LOC", ((0, 4),))]
    drawn = draw_pair(sentence_of("Lesser Upland Lesser Upland"), both, [], width=19, ascii_only=False).plain
    assert drawn.split("\n") == [
        "gold  ╭── ✗ LOC ───",
        "      Lesser Upland",
        "",
        "gold  ─── ✗ LOC ──╮",
        "      Lesser Upland",
    ]


def test_colours_are_stable_and_differ_within_common_inventories() -> None:
    assert label_style("protein") == "#4c8dff"
    for labels in ("protein DNA RNA cell_type cell_line", "PER ORG LOC MISC GPE FAC", "Disease Chemical Gene Species"):
        assert len(set(map(label_style, labels.split()))) == len(labels.split())


def test_styles_replace_colours_by_label() -> None:
    sentence = sentence_of("Oslo and Rome")
    mentions = [Mention("A", ((0, 1),)), Mention("B", ((2, 3),))]
    styles = {str(s.style) for s in draw(sentence, mentions, width=80, styles={"A": "bold red"}).spans}
    assert styles == {"bold red", label_style("B")}


def test_labels_cannot_steer_the_terminal() -> None:
    check("Oslo", [Mention("a\nb", ((0, 1),))], "Oslo", "╰──╯ a\ufffdb")


@pytest.mark.parametrize("width", [0, -3])
def test_width_must_be_positive(width: int) -> None:
    with pytest.raises(ParameterError, match=f"at least 1 cell, not {width}"):
        draw(sentence_of("Oslo"), [], width=width)


def test_mention_outside_the_sentence_is_named() -> None:
    with pytest.raises(
        ParameterError, match=r"mention 1 \(LOC \(\(1, 3\),\)\) ends at token 3, but the sentence has 2 tokens"
    ):
        draw(sentence_of("in Oslo"), [Mention("LOC", ((1, 2),)), Mention("LOC", ((1, 3),))])


words = st.lists(st.text("ab日é\u0301-", min_size=1, max_size=7), min_size=1, max_size=8)


@given(words, st.data(), st.integers(2, 40))
def test_every_mention_is_drawn_within_the_width(tokens: list[str], data: st.DataObject, width: int) -> None:
    """No line is too long, no character is lost, and no bracket hides another: each part has its two ends."""
    sentence = Sentence(tokens)
    chosen = data.draw(st.lists(st.sets(st.integers(0, len(tokens) - 1), min_size=1), max_size=5))
    mentions = [Mention("X", tuple((i, i + 1) for i in sorted(c))) for c in chosen]
    wrapped = draw(sentence, mentions, width=width, ascii_only=False).plain
    assert all(cell_len(line) <= width for line in wrapped.split("\n"))
    for drawn in (wrapped, draw(sentence, mentions, width=400, ascii_only=False).plain):
        parts = sum(len(m.parts) for m in mentions)
        assert drawn.count("╰") + drawn.count("╵") == parts
        assert drawn.count("╯") + drawn.count("╵") == parts
        kept = "".join(c for c in drawn if c in "ab日é-")
        assert kept == "".join(c for c in "".join(tokens) if c in "ab日é-")


def test_long_sentences_take_linear_time() -> None:
    """Four times the sentence runs about four times as many lines of code; sixteen times as many would be quadratic."""

    def lines_run(tokens: int) -> int:
        sentence = Sentence(["word"] * tokens)
        mentions = [Mention("X", ((i, i + 2),)) for i in range(0, tokens, 4)]
        count = 0

        def trace(frame: FrameType, event: str, arg: object) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            draw(sentence, mentions, width=80)
        finally:
            sys.settrace(before)
        return count

    assert lines_run(4_000) < 4.2 * lines_run(1_000)


def test_lines_follow_the_encoding_of_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence, mentions = sentence_of("in Paris"), [Mention("LOC", ((1, 2),))]
    for encoding, expected in (("utf-8", "╰LOC╯"), ("latin-1", r"\LOC/"), ("ascii", r"\LOC/")):
        monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        assert draw(sentence, mentions, width=80).plain.split("\n")[1].strip() == expected


def test_width_is_the_terminals_if_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "9")
    assert draw(sentence_of("see Paris now"), []).plain == "see Paris\nnow"
