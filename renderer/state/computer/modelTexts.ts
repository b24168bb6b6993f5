import type { ModelStatus, PlanModel } from '../../../electron/contract/index.ts';
import { asSentence } from '../../i18n/names.ts';
import type { Texts } from '../../i18n/index.ts';

type Shown =
  Pick<ModelStatus, 'id' | 'kind' | 'title' | 'notice'> | Pick<PlanModel, 'name' | 'title' | 'notice'>;

/** The catalogue key of a model that comes with the program. Imported models keep the names that their owners gave them. */
function keyOf(model: Shown): string | null {
  if ('id' in model) return model.kind === 'imported' ? null : model.id;
  return model.notice === null ? null : model.name;
}

export const modelTitle = (model: Shown, { lookUp }: Texts): string =>
  lookUp(`model.title.${keyOf(model)}`) ?? model.title;

/** A sentence of warning that every result of the model needs; null for models that can be relied on. */
export function modelNotice(model: Shown, { lookUp }: Texts): string | null {
  if (model.notice === null) return null;
  return lookUp(`model.notice.${keyOf(model)}`) ?? asSentence(model.notice);
}
