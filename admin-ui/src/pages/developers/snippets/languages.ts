/** The languages of the code examples, in the order of their tabs. */
export const languages = ['bash', 'node', 'python', 'php', 'go', 'ruby', 'java', 'csharp'] as const;
