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


@pytest.mark.parametrize("kind", ["keywords", "rare word"])
def test_no_other_note_contains_all_the_words(every_corpus, kind: str) -> None:
    texts = {
        id(corpus): {
            path: f"{text}\n{markdown_to_text(text)}".casefold() for path, text in corpus.notes.items()
        }
        for corpus in every_corpus
    }
    for corpus, question in asked(every_corpus, kind):
        words = question.text.split()
        found = [path for path, text in texts[id(corpus)].items() if all(word in text for word in words)]
        assert found == [question.answer]


def test_a_sentence_is_in_no_note(every_corpus) -> None:
    texts = {
        id(corpus): [" ".join(markdown_to_text(text).split()) for text in corpus.notes.values()]
        for corpus in every_corpus
    }
    for corpus, question in asked(every_corpus, "sentence"):
        assert not any(question.text in text for text in texts[id(corpus)])


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


def test_every_question_about_a_note_has_the_same_source(every_corpus) -> None:
    for corpus in every_corpus:
        assert {question.answer for question in corpus.questions} <= corpus.notes.keys()
        sources: dict[str, set[str]] = {}
        for question in corpus.questions:
            sources.setdefault(question.answer, set()).add(question.source)
        assert all(len(of_note) == 1 for of_note in sources.values())


def test_the_versions_of_a_page_have_the_same_source(every_corpus) -> None:
    topics = {
        f"{page.title}.md": page.topic
        for language in retrieval_sets.LANGUAGES
        for page in retrieval_sets.pages(language)
    }
    about_pages = [
        question
        for corpus in every_corpus
        if corpus.name.startswith("pages in")
        for question in corpus.questions
    ]
    assert {question.source for question in about_pages} == set(topics.values())
    assert all(question.source == topics[question.answer] for question in about_pages)


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
    assert titles == Counter(
        f"{page.title}.md" for language in retrieval_sets.LANGUAGES for page in retrieval_sets.pages(language)
    )


def test_repeated_questions_about_a_note_do_not_narrow_the_interval() -> None:
    differences, sources = [0.1, -0.1, 0.2, 0.0], ["a", "b", "c", "d"]
    once = interval(differences, sources)
    assert interval(differences * 50, sources * 50) == pytest.approx(once)
    low, high = interval(differences * 50, [str(at) for at in range(200)])
    assert once[0] < low < high < once[1]
