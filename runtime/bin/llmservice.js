#!/usr/bin/env node
// The `llmservice` command; what it does is compiled from src/cli.
import '../dist/cli/main.js';
