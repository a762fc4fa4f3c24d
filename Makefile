# Needs make and a Python from 3.11 on; everything else is installed into .venv.

ifndef PYTHON
PYTHON := $(shell for python in python3 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { command -v "$$python"; break; }; done)
endif
VENV_PYTHON := .venv/bin/python
WITH_DATABASE := $(VENV_PYTHON) -m memlab.core.devdb during

.DEFAULT_GOAL := help
.PHONY: help run test lint bench

help: ## Show this list
	@echo "Memlab: make ..."
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1	\2/p' $(MAKEFILE_LIST)

run: .venv/.ready ## Set up everything, start it, print the addresses and a fresh password
	@$(VENV_PYTHON) -m memlab.launch

test: .venv/.ready-dev ## Run all tests, in parts beside each other
	@$(WITH_DATABASE) $(VENV_PYTHON) scripts/run_tests.py

lint: .venv/.ready-dev ## Check style, types, import layers, migrations and translations
	@$(WITH_DATABASE) $(VENV_PYTHON) scripts/lint.py

bench: .venv/.ready ## Measure recall, maintenance and live turns; writes bench/report.json
	@$(WITH_DATABASE) $(VENV_PYTHON) manage.py bench

define bootstrap
	@test -n "$(PYTHON)" || { echo >&2; \
	echo "memlab: no Python from 3.11 on found (python3, python3.13, python3.12, python3.11)." >&2; \
	echo "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; \
	echo >&2; exit 1; }
	@"$(PYTHON)" scripts/bootstrap.py $(1) $@
endef

.venv/.ready: requirements/base.txt requirements/local.txt scripts/bootstrap.py
	$(call bootstrap,requirements/local.txt)

.venv/.ready-dev: .venv/.ready requirements/dev.txt
	$(call bootstrap,requirements/dev.txt)
