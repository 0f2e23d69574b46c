import subprocess
import sys


def test_what_workers_import_of_the_crawler_is_light():
    code = (
        "import sys, wikitopics.crawler.dumps.parts\n"
        "from wikitopics.crawler import extract_html, extract_wikitext\n"
        "assert callable(extract_wikitext) and callable(extract_html)\n"
        "print(sorted({'numpy', 'aiohttp', 'bs4', 'lxml', 'mwparserfromhell'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
