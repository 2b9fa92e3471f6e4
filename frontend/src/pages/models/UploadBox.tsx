// Takes a file by drop or by choice and shows how far the upload is. Leads to the model when it has arrived.
import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState, type DragEvent } from 'react';
import { uploadModel } from '~/api/upload';
import { useFormat } from '~/format/useFormat';
import { useWords } from '~/i18n/words';
import { IconUpload } from '~/shell/icons';
import { ProblemNotice } from '~/shell/ProblemNotice';
import classes from './UploadBox.module.css';

export function UploadBox({ project }: { project: string }) {
  const { t } = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [sent, setSent] = useState(0);
  const abort = useRef<AbortController | null>(null);
  const upload = useMutation({
    mutationFn: (file: File) => {
      abort.current = new AbortController();
      setSent(0);
      return uploadModel(file, { project, signal: abort.current.signal, onProgress: setSent });
    },
    onSuccess: async (model) => {
      void client.invalidateQueries({ queryKey: ['models'] });
      await navigate({ to: '/models/$id', params: { id: model.id } });
    },
  });
  const take = (file: File | null | undefined) => {
    if (file && !upload.isPending) upload.mutate(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  const stopped = upload.error instanceof DOMException;
  return (
    <section
      className={classes.box}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      aria-label={t('models.drop')}
    >
      {upload.isPending ? (
        <Sending file={upload.variables} sent={sent} onCancel={() => abort.current?.abort()} />
      ) : (
        <Stack align="center" gap="xs">
          <IconUpload size={28} />
          <Text fw={600} ta="center">
            {t('models.drop')}
          </Text>
          <Text size="sm" c="dimmed" ta="center">
            {t('models.drop.hint')}
          </Text>
          <Button onClick={() => input.current?.click()}>{t('models.choose')}</Button>
        </Stack>
      )}
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t('models.choose')}
        data-testid="model-file"
        onChange={(event) => {
          take(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      {!stopped && <ProblemNotice problem={upload.error} />}
    </section>
  );
}

function Sending({ file, sent, onCancel }: { file: File; sent: number; onCancel: () => void }) {
  const { t } = useWords();
  const format = useFormat();
  const label = t('models.uploading', { name: file.name });
  return (
    <Stack gap="xs" w="100%" maw={560} mx="auto">
      <Text fw={600}>{label}</Text>
      <Progress.Root size="lg">
        <Progress.Section value={file.size ? (sent / file.size) * 100 : 100} aria-label={label} />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" className="number">
          {t('models.sent', { sent: format.bytes(sent), total: format.bytes(file.size) })}
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
      </Group>
    </Stack>
  );
}
