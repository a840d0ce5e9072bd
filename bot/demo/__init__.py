"""The demo: a scripted operations agent at work on real files."""
