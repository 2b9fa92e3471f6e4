// Names of models in the page's language: built-in ones by id from the catalogue, uploads by their file's name.
import type { Job, ZooModel } from '~/api/types';
import type { Words } from '~/i18n/words';

const zooKey = (id: string) => id.replace(':', '.');

export const zooName = ({ id, name }: Pick<ZooModel, 'id' | 'name'>, { maybe }: Words) =>
  maybe(`${zooKey(id)}.name`) ?? name;

export const zooText = ({ id, description }: Pick<ZooModel, 'id' | 'description'>, { maybe }: Words) =>
  maybe(`${zooKey(id)}.text`) ?? description;

export const modelName = (model: Job['model'], words: Words) =>
  model.zoo ? zooName({ id: model.zoo, name: model.name }, words) : model.name;
