"""The questions of the retrieval benchmark have one right answer each."""

from __future__ import annotations

from collections import Counter

import pytest

from app.embeddings.chunker import markdown_to_text
from tests.benchmarks import retrieval_sets
from tests.benchmarks.retrieval import interval
from tests.benchmarks.retrieval_sets import RetrievalCorpus, corpora


@pytest.fixture(scope="module")
def every_corpus() -> list[RetrievalCorpus]:
    return list(corpora(()))


def asked(every_corpus: list[RetrievalCorpus], *kinds: str):
    found = [
        (corpus, question)
        for corpus in every_corpus
        for question in corpus.questions
        if question.kind in kinds
    ]
    assert found
    return found


def test_no_other_note_contains_all_the_words(every_corpus) -> None:
    for corpus in every_corpus:
        texts = {path: f"{text}\n{markdown_to_text(text)}".casefold() for path, text in corpus.notes.items()}
        for question in corpus.questions:
            if question.kind in ("keywords", "rare word"):
                words = question.text.split()
                assert [path for path, text in texts.items() if all(word in text for word in words)] == [
                    question.answer
                ]


def test_a_sentence_is_in_no_note(every_corpus) -> None:
    for corpus in every_corpus:
        texts = [" ".join(markdown_to_text(text).split()) for text in corpus.notes.values()]
        sentences = [question.text for question in corpus.questions if question.kind == "sentence"]
        assert not any(sentence in text for sentence in sentences for text in texts)


def test_a_note_is_asked_for_by_each_of_its_names_and_contains_none_as_a_property() -> None:
    notes = {
        "pages/block_reference.md": "alias:: [[Block Reference]], Quoted block\n- title:: Block Reference\n",
        "pages/Page links.md": "---\naliases: [Wiki links, Quoted block]\n---\n# Page links\n",
    }
    notes = {path: f"{text}A paragraph. {'Words of the note. ' * 8}" for path, text in notes.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval_sets, "MIN_NOTES", 1)
        stripped = next(retrieval_sets.of_vault("test", notes))
    titles = [(question.text, question.source) for question in stripped.questions if question.kind == "title"]
    assert sorted(titles) == [
        ("Page links", "pages/Page links.md"),
        ("Wiki links", "pages/Page links.md"),
        ("block reference", "pages/block_reference.md"),
    ]
    assert not any("::" in text or "links" in text for text in stripped.notes.values())


def test_a_name_or_heading_belongs_to_one_note(every_corpus) -> None:
    for kind in ("exact name", "title", "heading"):
        answers: dict[tuple[str, str], set[str]] = {}
        for corpus, question in asked(every_corpus, kind):
            answers.setdefault((corpus.name, question.text.casefold()), set()).add(question.answer)
        assert max(len(paths) for paths in answers.values()) == 1


def test_no_question_is_asked_twice(every_corpus) -> None:
    for corpus in every_corpus:
        questions = Counter((question.kind, question.text, question.answer) for question in corpus.questions)
        assert max(questions.values()) == 1


def test_every_question_about_a_note_or_topic_is_in_the_same_half(every_corpus) -> None:
    for corpus in every_corpus:
        assert {question.answer for question in corpus.questions} <= corpus.notes.keys()
        halves: dict[str, set[bool]] = {}
        for question in corpus.questions:
            halves.setdefault(question.answer, set()).add(question.is_seen)
        assert all(len(half) == 1 for half in halves.values())


def test_each_sentence_of_a_page_is_asked_once_and_removed_from_the_page(every_corpus) -> None:
    for language in retrieval_sets.LANGUAGES:
        about = [
            (corpus, question)
            for corpus, question in asked(every_corpus, f"{language} → {language}")
            if corpus.name == f"pages in {language}"
        ]
        texts = Counter(question.text for _, question in about)
        for page in retrieval_sets.pages(language):
            assert [texts[sentence] for sentence in page.sentences] == [1] * len(page.sentences)
        assert all(question.text not in corpus.notes[question.answer] for corpus, question in about)


def test_the_mixtures_have_each_topic_once_in_each_language(every_corpus) -> None:
    mixtures = [corpus for corpus in every_corpus if corpus.name == "pages in four languages"]
    titles = Counter(title for corpus in mixtures for title in corpus.notes)
    assert len(mixtures) == len(retrieval_sets.LANGUAGES)
    assert sum(titles.values()) == len(mixtures) * len(retrieval_sets.pages("en"))


def test_repeated_questions_about_a_note_do_not_narrow_the_interval() -> None:
    differences, sources = [0.1, -0.1, 0.2, 0.0], ["a", "b", "c", "d"]
    once = interval(differences, sources)
    assert interval(differences * 50, sources * 50) == pytest.approx(once)
    low, high = interval(differences * 50, [str(at) for at in range(200)])
    assert once[0] < low < high < once[1]
