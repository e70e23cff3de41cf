import { useNavigate } from '@tanstack/react-router';

/** The filters of a list, which the URL has. A change shows the first page again, and is no step of Back. */
export const useFilters = <Search extends { readonly cursor?: string | undefined }>(search: Search) => {
  const { cursor, ...filters } = search;
  const navigate = useNavigate();
  const go = (to: object, replace: boolean): void => void navigate({ to: '.', search: to as never, replace });
  return {
    filters,
    isFiltered: Object.values(filters).some((value) => value !== undefined),
    set: (change: Partial<Omit<Search, 'cursor'>>): void => go({ ...filters, ...change }, true),
    clear: (): void => go({}, false),
    pager: { cursor, onPage: (to: string | undefined): void => go({ ...filters, cursor: to }, false) },
  };
};
