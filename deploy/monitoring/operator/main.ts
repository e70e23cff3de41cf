import { writeFileSync } from 'node:fs';
import { renderRule, ruleFile } from './rule.ts';

// Run it after changing the rules.
writeFileSync(ruleFile, renderRule());
