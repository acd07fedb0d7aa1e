"""Sphinx settings for the site that build.sh makes from this project's pages and notebooks."""

project = "Helmholtz"
author = "the developers of Helmholtz"
extensions = ["myst_nb", "sphinx_external_toc", "sphinx_copybutton"]

# The notebooks are committed with their outputs, which a test checks.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
suppress_warnings = [
    "myst.xref_missing",  # gomarkdoc's anchors are HTML, which MyST does not recognise; build.sh checks all links
    "myst.header",  # doc comments have headings below gomarkdoc's own
    "misc.highlighting_failure",  # cells with shell commands
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

external_toc_path = "_toc.yml"
external_toc_exclude_missing = True

html_theme = "sphinx_book_theme"
html_title = "Helmholtz"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "navbar_persistent": [],  # the sidebar has the search
}
# Pages fetch nothing from other hosts.
mathjax_path = "mathjax/tex-mml-chtml.js"
