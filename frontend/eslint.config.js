import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Words belong to the catalogues: no text of a page may be written in a component.
const noWordsInPages = [
  {
    selector: 'JSXText[value=/[A-Za-z\\u4e00-\\u9fff]/]',
    message: 'Put the words into src/i18n and use t().',
  },
  {
    selector:
      'JSXAttribute[name.name=/^(label|placeholder|title|description|alt|aria-label|summary)$/] > Literal[value=/[A-Za-z\\u4e00-\\u9fff]/]',
    message: 'Put the words into src/i18n and use t().',
  },
];

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'src/api/schema.d.ts'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  hooks.configs.flat['recommended-latest'],
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'max-lines': ['error', { max: 450 }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.tsx'],
    ignores: ['src/**/*.test.tsx'],
    rules: { 'no-restricted-syntax': ['error', ...noWordsInPages] },
  },
  // Arrows go one way: words, transport and the live stream know no page; the stream knows no React page either.
  {
    files: ['src/{api,i18n,live,charts,format}/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: ['**/pages/**', '**/shell/**'], message: 'Pages lean on this, not the reverse.' }] },
      ],
    },
  },
  {
    files: ['public/**/*.js', '*.config.{js,ts,cjs}'],
    languageOptions: {
      globals: {
        localStorage: 'readonly',
        matchMedia: 'readonly',
        document: 'readonly',
        module: 'writable',
        process: 'readonly',
      },
    },
  },
);
