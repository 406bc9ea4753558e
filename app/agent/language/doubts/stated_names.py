"""Find what a new name with slashes may mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.vault.path import NotePath, name_key


def without_slash(request: Request, step: PipelineStep) -> list[PipelineStep]:
    """Return the change with a name in which "-" replaces each slash: "Insurance 24/7"; mostly none.

    A slash after the name of an existing folder separates the folder from the note.
    """
    role = "new_name" if step.action == "rename" else "name"
    folder, name = str(step.arguments.get("folder", "")), str(step.arguments.get(role, ""))
    has_split = bool(folder) and f"{folder}/{name}".casefold() in request.text.casefold()
    whole = f"{folder}/{name}" if has_split else name
    first = whole.strip("/").partition("/")[0]
    parents = [folder, *(path.rpartition("/")[0] for path in (step.target.notes if step.target else ()))]
    places = (first, *(f"{parent}/{first}" for parent in parents))
    is_namespace = bool(request.vocabulary.find_namespace(first))
    if "/" not in whole.strip("/") or any(map(request.vocabulary.has_folder, places)) or is_namespace:
        return []
    plain = replace(step, arguments={own: value for own, value in step.arguments.items() if own != "folder"})
    return [(plain if has_split else step).with_argument(role, whole.replace("/", "-"))]


def moves_of_rename(request: Request, step: PipelineStep) -> Sequence[PipelineStep]:
    """Return the move and the new name that "rename Pryce to Admin/Pryce" means; none for other names.

    The tool would make a folder `Admin` in the folder of the note, although there is one already. A path
    in the note's own folder is only a new name.
    """
    folder, _, name = str(step.arguments.get("new_name", "")).strip("/").rpartition("/")
    target = step.target
    if step.action != "rename" or target is None or len(target.notes) != 1 or not name:
        return ()
    own, place = target.notes[0].rpartition("/")[0], request.vocabulary.with_known_parent(folder)
    is_known = request.vocabulary.has_folder(folder.partition("/")[0])
    if not own or not is_known or request.vocabulary.has_folder(f"{own}/{folder}"):
        return ()
    if place == own:
        return (step.with_argument("new_name", name),)
    move = PipelineStep("move", target, {"folder": place})
    if name_key(NotePath.on_disk(target.notes[0]).name) == name_key(name):
        return (move,)
    return (move, PipelineStep("rename", NoteSet(source="previous"), {"new_name": name}))
