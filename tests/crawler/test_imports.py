import subprocess
import sys


def test_the_extractors_are_functions_of_the_package_and_light_to_import():
    code = (
        "import sys, crawler, crawler.extract_wikitext, crawler.extract_html\n"
        "from crawler import extract_html, extract_wikitext\n"
        "assert callable(extract_wikitext) and callable(extract_html)\n"
        "print(sorted({'numpy', 'aiohttp', 'bs4', 'lxml', 'mwparserfromhell'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
