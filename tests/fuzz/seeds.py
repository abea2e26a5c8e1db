"""Small files of every format, written for the fuzzer: it need not find their syntax by itself."""

from __future__ import annotations

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
    "ace": [
        "<DOC><DOCID>x</DOCID><BODY>\nAnn of\nX&amp;Y left.</BODY></DOC>"
        '\0<source_file><document><entity ID="E1" TYPE="PER"><entity_mention TYPE="NAM"><extent>'
        '<charseq START="2" END="4">Ann</charseq></extent></entity_mention></entity></document></source_file>'
    ],
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
    "csv": ['pmid,title,abstract\n17,XY-7,"It binds, ""so"".\nIt does."\n'],
    "text": ["XY-7 gene. It binds.\n\nNext one, Dr. Lund said.\n"],
    "gum": [
        "## train\n\n* GUM_news_x\n\0# newdoc id = GUM_news_x\n# global.Entity = GRP-etype-infstat\n# sent_id = 1\n"
        "# text = Mara\n1\tMara\t_\t_\t_\t_\t0\troot\t_\tEntity=(1-person-new)\n\n"
    ],
    "rows": [
        '{"id":"1","tokens":["XY-7","gene"],"ner_tags":["B-X","O"]}',
        '{"tokenized_text":["XY-7","gene"],"ner":[[0,1,"DNA"]]}',
        '{"id":"1","document_id":"d","passages":[{"id":"p","type":"t","text":["XY-7 gene"],"offsets":[[0,9]]}],'
        '"entities":'
        '[{"id":"e","type":"DNA","text":["XY-7"],"offsets":[[0,4]],"normalized":[{"db_name":"n","db_id":"i"}]}],"events":[],'
        '"coreferences":[],"relations":[]}',
    ],
}
