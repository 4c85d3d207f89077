#!/usr/bin/env python3
"""Tests that every public name has a comment that the site's reference shows: of the headers that clients include, in Doxygen's XML
as course/site/xml.sh writes it.

    comments.py FOLDER    writes the XML in FOLDER

Without a comment of their own may be: a class whose file has no other class that the comment of the file could describe; further
overloads of a name; constructors and operators, except () and [], of a class that has a comment; an override; enumerators of an
enumeration that has a comment; an operation, if docs/operations.md shows it; the members of a class whose comment says "Clients do not
need it"; and what a namespace `detail` hides.
"""
import pathlib, re, shutil, subprocess, sys
import xml.etree.ElementTree as ET

for tool in "doxygen", "awk":
    if not shutil.which(tool):
        sys.exit(print(f"skipped: {tool} is not installed"))
root = pathlib.Path(__file__).resolve().parent.parent.parent
subprocess.run([root / "course/site/xml.sh", sys.argv[1]], check=True)


def comment(node):
    parts = map(node.find, ("briefdescription", "detaileddescription", "inbodydescription"))
    return "".join("".join(part.itertext()) for part in parts if part is not None).strip()


def place(node):
    at = node.find("location")
    return at.get("declfile", at.get("file")), int(at.get("declline", at.get("line")))


compounds = [ET.parse(path).getroot().find("compounddef") for path in (pathlib.Path(sys.argv[1]) / "xml").glob("*.xml")]
compounds = [one for one in compounds if one is not None and "detail" not in one.findtext("compoundname").split("::")]
files = {one.find("location").get("file"): bool(comment(one)) for one in compounds if one.get("kind") == "file"}
operations = set(re.findall(r"\w+", " ".join(re.findall("^## (.*)", (root / "docs/operations.md").read_text(), re.M))))

missing, names = {}, 0  # place: what
for one in compounds:
    name = one.findtext("compoundname").replace("heed::", "").replace("f32::", "")
    is_class = one.get("kind") in ("class", "struct")
    if one.get("kind") != "namespace" and not (is_class and one.get("prot") == "public" and "<" not in name):
        continue
    if is_class:
        names += 1
        if not comment(one):
            missing[place(one)] = f"class {name}"
        if re.search(r"lients do not\s+need it", comment(one)):
            continue
    members = [member for member in one.iter("memberdef") if member.get("prot") == "public" and member.get("kind") != "friend"
               and not member.findtext("argsstring", "").endswith("delete")]
    described = {member.findtext("name") for member in members if comment(member)}
    for member in members:
        own = member.findtext("name")
        if is_class and own.strip("~") == name.split("::")[-1] or re.match(r"operator(?!\(\)|\[\])", own):
            continue
        names += 1
        if own not in described and member.find("reimplements") is None and not (place(member)[0].endswith("ops.h") and own in operations):
            missing[place(member) + (own,)] = f"{name}::{own}" if is_class else own

# One class of a file may have the file's comment.
for file, commented in files.items():
    classes = [at for at, what in missing.items() if at[0] == file and what.startswith("class ")]
    if commented and len(classes) == 1:
        del missing[classes[0]]
for (file, line, *_), what in sorted(missing.items()):
    print(f"{file}:{line}: no comment: {what}")
if names < 1000:
    print(f"Doxygen found only {names} public names")
sys.exit(bool(missing) or names < 1000)
