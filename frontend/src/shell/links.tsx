// Mantine's button and anchor as links of the router: addresses and their parameters are checked by the compiler.
import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Native = Omit<ComponentPropsWithRef<'a'>, 'style' | 'color' | 'href'>;

export const LinkAnchor = createLink((props: Omit<AnchorProps, 'href'> & Native) => <Anchor {...props} />);
export const LinkButton = createLink((props: ButtonProps & Native) => <Button component="a" {...props} />);
