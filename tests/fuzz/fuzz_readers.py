"""Feed the corpus readers with what a coverage-guided fuzzer finds.

::

    pip install atheris
    python tests/fuzz/fuzz_readers.py jsonl -max_total_time=60
    python tests/fuzz/fuzz_readers.py all -max_total_time=60      # every reader for so long

Whatever the bytes are, a reader gives documents or ``CorpusError`` with the name of the file; anything else stops the
fuzzer, which then shows the bytes that did it. Formats of several files get them joined by a zero byte. The fuzzer
begins with small files of each format (``SEEDS``), so that it need not find their syntax by itself.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document
from spanloom.formats import Report, read
from spanloom.formats.reference import EXTENSIONS
from spanloom.formats.validation import check

# format: (names of its files, the reference's path, options, seeds)
READERS: dict[str, tuple[list[str], str, str]] = {
    "jsonl": (["a.jsonl"], "a.jsonl", "align=split"),
    "conll": (["a.conll"], "a.conll", "tags=-1"),
    "conllu": (["a.conllu"], "a.conllu", ""),
    "iob2": (["a.conllu", "a.iob2"], "a.conllu", "iob2={folder}/a.iob2"),
    "brat": (["a.txt", "a.ann"], "", ""),
    "genia": (["GENIAcorpus3.02.xml", "GENIAtrain.pos"], "", "classes=leaf&coordination=expand"),
    "biocreative": (["a.in", "GENE.eval", "ALTGENE.eval"], "", ""),
    "pubtator": (["a.pubtator"], "a.pubtator", ""),
    "prodigy": (["a.jsonl"], "a.jsonl", "align=expand"),
    "doccano": (["a.jsonl"], "a.jsonl", "align=contract"),
    "labelstudio": (["a.json"], "a.json", "annotation=all"),
    "bioc": (["a.xml"], "a.xml", ""),
    "bioc-json": (["a.json"], "a.json", ""),
    "spacy": (["a.spacy"], "a.spacy", ""),
    "parquet": (["a.parquet"], "a.parquet", ""),
    "csv": (["a.csv"], "a.csv", "text=title,abstract&id=pmid"),
    "gz": (["a.jsonl.gz"], "a.jsonl.gz", "text=abstract"),
}
FORMATS = {"iob2": "conllu", "bioc-json": "bioc", "gz": "jsonl"}

SEEDS: dict[str, list[str]] = {
    "jsonl": [
        '{"id":"d","text":"XY-7 gene","tokens":["XY","-7","gene"],"offsets":[[0,2],[2,4],[5,9]],"sentences":'
        '[{"range":[0,3],"chars":[0,9],"meta":{"alternatives":[{"label":"a","parts":[[0,1]]}]}}],"columns":{"pos":'
        '["N",null,"N"]},"features":[["f"],{"g":1.5},[]],"mentions":[{"label":"DNA","parts":[[0,1],[2,3]],"prob":0.5,'
        '"attributes":{"k":"v"}},{"label":"p","chars":[[0,4]],"text":"XY-7"}],"meta":{"year":1999}}\n'
    ],
    "conll": [
        "-DOCSTART- O\n\n# text = Mara L left\nMara\tN\tB-PER\nL\tN\tI-PER\nleft\tV\tO\n\nOslo\tN\tS-LOC\n",
        "# global.columns = word pos tags\na x U-A\nb x B-A\nc x L-A\n",
    ],
    "conllu": [
        "# newdoc id = d\n# global.Entity = GRP-etype-infstat\n# sent_id = s1\n# text = Mara Lund's dog\n"
        "1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tMara\tMara\tPROPN\tNNP\t_\t3\tnmod\t_\tEntity=(1-person-new(2-place[1/2]-new\n"
        "2\tLund\tLund\tPROPN\tNNP\t_\t1\tflat\t_\tEntity=1)2[1/2])|SpaceAfter=No\n"
        "3\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\tEntity=(3-animal-new)\n8.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    ],
    "iob2": [
        "# sent_id = s1\n1\tMara\t_\t_\t_\t_\t0\troot\t_\t_\n2\tleft\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
        "\0# sent_id = s1\n1\tMara\tB-PER\t-\tx\n2\tleft\tO\t-\tx\n"
    ],
    "brat": [
        "XY-7 gene binds\nzin.\n\0T1\tDNA 0 9\tXY-7 gene\nT2\tpair 0 4;16 19\tXY-7 zin\nA1\tNegation T1\n"
        "#1\tNote T1\tx\nN1\tReference T1 Taxonomy:9606\tX\nR1\tBinds Arg1:T1 Arg2:T2\nE1\tBind:T2 Theme:T1\n"
        "*\tEquiv T1 T2\n"
    ],
    "genia": [
        "<set><article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo><title><sentence>"
        '<cons lex="(AND a-zin b-zin)" sem="(AND G#protein_molecule G#protein_molecule)"><cons lex="a-*">a-</cons> and '
        '<cons lex="b-*">b-</cons><cons lex="*zin">zin</cons></cons> &lt; 3</sentence></title><abstract><sentence>'
        '<cons lex="T_cell" sem="G#cell_type">T cell</cons>s.</sentence></abstract></article></set>'
        "\0UI/LS -/: 1/CD\nTI/LS -/: a-/JJ and/CC b-zin/NN </SYM 3/CD\nAB/LS -/: T/NN cells/NNS ./.\n"
    ],
    "biocreative": ["S1 XY-7 gene binds\nS2 None\n\0S1|0 7|XY-7 gene\n\0S1|0 3|XY-7\n"],
    "pubtator": ["12|t|XY-7 gene\n12|a|All of it.\n12\t0\t4\tXY-7\tprotein\tP1\n12\tbinds\tP1\tP2\n\n13|t|Next.\n"],
    "prodigy": [
        '{"text":"XY-7 gene","tokens":[{"text":"XY-7","start":0,"end":4,"id":0,"ws":true},{"text":"gene","start":5,'
        '"end":9,"id":1}],"spans":[{"start":0,"end":4,"label":"p","source":"r"}],"meta":{"id":"p1"},"answer":"accept"}'
    ],
    "doccano": [
        '{"id":7,"text":"XY-7 gene","label":[[0,9,"DNA"]]}\n',
        '{"text":"ab","entities":[{"id":1,"label":"x","start_offset":0,"end_offset":2}],"relations":[{"id":1}]}',
    ],
    "labelstudio": [
        '[{"id":9,"data":{"text":"XY-7 gene","source":"x"},"annotations":[{"was_cancelled":true,"result":[]},{"result":'
        '[{"id":"r1","value":{"start":0,"end":4,"text":"XY-7","labels":["a","b"]}},{"type":"relation","from_id":"r1"}]}]}]'
    ],
    "bioc": [
        "<?xml version='1.0'?><collection><source>s</source><date>d</date><key>k</key><document><id>1</id><passage>"
        '<offset>0</offset><text>XY-7 gene</text><annotation id="T1"><infon key="type">DNA</infon>'
        '<location offset="0" length="9"/><text>XY-7 gene</text></annotation></passage><relation id="R1">'
        '<infon key="type">of</infon><node refid="T1" role="a"/></relation></document></collection>'
    ],
    "bioc-json": [
        '{"source":"s","date":"d","key":"k","infons":{},"documents":[{"id":"1","infons":{},"passages":[{"offset":0,'
        '"infons":{},"text":"XY-7 gene","sentences":[],"annotations":[{"id":"T1","infons":{"type":"DNA"},"text":"XY-7",'
        '"locations":[{"offset":0,"length":4}]}],"relations":[]}],"annotations":[],"relations":[]}]}'
    ],
    "spacy": [],
    "parquet": [],
    "csv": ['pmid,title,abstract\n17,XY-7,"It binds, ""so"".\nIt does."\n'],
    "gz": [],
}


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one reader; does not come back."""
    files, path, options = READERS[name]
    folder = Path(tempfile.mkdtemp())
    corpus = Path(tempfile.mkdtemp())
    for k, seed in enumerate(SEEDS[name]):
        (corpus / f"seed{k}").write_text(seed, encoding="utf-8")
    ref = f"{FORMATS.get(name, name)}:{folder / path}?{options.format(folder=folder)}".rstrip("?")

    def one_input(raw: bytes) -> None:
        """Read the bytes leniently, going on after errors, and then strictly."""
        pieces = raw.split(b"\0", len(files) - 1)
        for file, piece in zip(files, pieces + [b""] * (len(files) - len(pieces)), strict=True):
            (folder / file).write_bytes(piece)
        for strict in (False, True):
            report = Report(strict=strict)
            try:
                for doc in check(read(ref).stream(report), report, str(folder)):
                    _walk(doc)
            except CorpusError as error:
                if strict and not any(file in str(error) for file in files) and str(folder) not in str(error):
                    raise AssertionError(f"no file in the message {error}") from error

    instrument()
    atheris.Setup([sys.argv[0], str(corpus), *arguments], one_input)
    atheris.Fuzz()


def instrument() -> None:
    """Let the fuzzer see which branches of the readers it reached."""
    for name in EXTENSIONS:
        importlib.import_module(f"spanloom.formats.{name}")
    for name, module in list(sys.modules.items()):
        if not name.startswith(("spanloom.corpus", "spanloom.formats")):
            continue
        for value in list(vars(module).values()):
            inside = list(vars(value).values()) if inspect.isclass(value) else [value]
            for function in inside:
                if (
                    inspect.isfunction(function)
                    and function.__module__ == name
                    and function.__code__.co_filename[0] != "<"
                ):
                    atheris.instrument_func(function)


def _walk(doc: Document) -> None:
    """Ask a document for everything, so that impossible ones fail here."""
    for mention in doc.mentions:
        doc.surface(mention)


def main() -> None:
    """Fuzz one reader, or all, each in a process of its own."""
    if len(sys.argv) < 2 or sys.argv[1] not in (*READERS, "all"):
        sys.exit(f"usage: fuzz_readers.py {'|'.join((*READERS, 'all'))} [libFuzzer's options]")
    if sys.argv[1] != "all":
        fuzz(sys.argv[1], sys.argv[2:])
    failed = [name for name in READERS if subprocess.run([sys.executable, __file__, name, *sys.argv[2:]]).returncode]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
