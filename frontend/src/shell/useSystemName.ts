// The name of a system for its id: IPU-POD16 for pod16. Until the list has come, the id.
import { useQuery } from '@tanstack/react-query';
import { systemsQuery } from '~/api/queries/catalogue';

export function useSystemName(): (id: string) => string {
  const { data } = useQuery(systemsQuery);
  return (id) => data?.find((system) => system.id === id)?.name ?? id;
}
