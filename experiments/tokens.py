"""What is lost when text is cut otherwise than the training data were."""

from __future__ import annotations

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Mention, Recognizer, Sentence, read
from spanloom.corpus import TokenRules
from spanloom.evaluation.score import micro
from spanloom.learning import LBFGS

CORPORA = {
    "GENIA": ("genia:{data}/genia?classes=5&split={part}", "edge"),
    "GUM": ("gum:{data}/gum?split={part}", "edge"),
    "UNER-EWT": ("uner:{data}/uner-ewt?split={part}", "chain"),
    "DaN+": ("conll:{data}/danplus/da_news_{part}.tsv?tags=1,2", "edge"),
}
DDT = "conll:{data}/uner-ddt/da_ddt-ud-{part}.iob2?words=1&tags=2"
"""The same sentences as those of DaN+, with their text."""


def with_text(sentences: list[Sentence], written: list[Sentence]) -> list[Sentence]:
    """Return sentences with the text of those that have the same words; others are left out."""
    texts = {tuple(s.tokens): s.text for s in written}
    return [Sentence(s.tokens, s.mentions, text=texts[key]) for s in sentences if (key := tuple(s.tokens)) in texts]


def text_f1(ner: Recognizer, sentences: list[Sentence], rules: TokenRules) -> float:
    """Score what is found in the text of sentences, by characters."""
    ner.token_rules_ = rules
    gold, found = [], []
    for sentence in sentences:
        doc = ner.predict(sentence.text)
        gold.append([Mention(m.label, sentence.chars(m)) for m in sentence.mentions])
        found.append([Mention(m.label, doc.chars(m)) for m in doc.mentions])
    return micro(gold, found).f1


def execute(run: Run, context: Context) -> Result:
    """Train on tokens; score on tokens, and on text that is cut in several ways."""
    s = run.settings
    ref, model = CORPORA[s["corpus"]]
    train = [one for doc in read(ref.format(data=context.data, part="train")) for one in doc.sentences]
    train = train[: 300 if context.quick else s["sentences"]]
    test = [one for doc in read(ref.format(data=context.data, part="test")) for one in doc.sentences if len(one)]
    if s["corpus"] == "DaN+":
        test = with_text(test, [one for d in read(DDT.format(data=context.data, part="test")) for one in d.sentences])
    ner = Recognizer(model, keep="longest", trainer=LBFGS(max_iter=s["max_iter"]), threads=1).fit(train)
    chosen, facts = ner.token_rules_, ner.training_["tokenizer"]
    return {
        "train": len(train),
        "test": len(test),
        "tokenizer": chosen.name,
        "spacing": facts["spacing"],
        "agreement": facts["agreement"],
        "tokens": ner.score(test).f1,
        "text, chosen": text_f1(ner, test, chosen),
        "text, default": text_f1(ner, test, TokenRules()),
        "text, punctuation": text_f1(ner, test, TokenRules("punctuation")),
        "text, space": text_f1(ner, test, TokenRules("space")),
    }


EXPERIMENT = Experiment(
    title="F1 on tokenised data, and on the same sentences as text",
    runs=[Run(name, {"corpus": name, "sentences": 5000, "max_iter": 100}) for name in CORPORA],
    execute=execute,
    columns=[
        "train", "test", "tokenizer", "spacing", "agreement", "tokens", "text, chosen", "text, default",
        "text, punctuation", "text, space",
    ],
    percent=("agreement", "tokens", "text, chosen", "text, default", "text, punctuation", "text, space"),
    about=(
        "The model is `edge` (`chain` for UNER-EWT) with default settings, at most 100 iterations, on the first 5,000 "
        "training sentences, scored on the test part by characters. agreement: the share of training tokens that the "
        "chosen tokenizer gives. tokens: the test data as they are; text: their sentences as text, cut by the chosen "
        "tokenizer, by our default, at white space and punctuation, at white space. DaN+ (Plank et al. 2020, Danish) "
        "has no text; its sentences have that of UNER-DDT, which are the same ones. Both are put into the folder of "
        "the corpora as `danplus` and `uner-ddt`."
    ),
)  # fmt: skip
