"""Shapes of models on the wire: the inspection is the simulator's own, the refusal has a code and says what to do."""

from typing import Any

from rest_framework import serializers

from portal.http.fields import PersonSerializer
from portal.registry.models import Model


class TensorSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    dtype = serializers.CharField()
    shape = serializers.ListField(help_text="Integers; a name or null where the model leaves a dimension open.")


class OperatorSerializer(serializers.Serializer[Any]):
    op = serializers.CharField()
    domain = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    supported = serializers.BooleanField()


class UnsupportedSerializer(serializers.Serializer[Any]):
    op = serializers.CharField()
    domain = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField())


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class InspectionSerializer(serializers.Serializer[Any]):
    format = serializers.CharField()
    ir_version = serializers.IntegerField()
    opset = serializers.DictField(child=serializers.IntegerField())
    producer = serializers.CharField()
    parameters = serializers.IntegerField()
    parameter_bytes = serializers.IntegerField()
    nodes = serializers.IntegerField()
    inputs = TensorSerializer(many=True)
    outputs = TensorSerializer(many=True)
    operators = OperatorSerializer(many=True)
    unsupported = UnsupportedSerializer(many=True)
    symbolic_dims = serializers.ListField(child=serializers.CharField())
    trainable = serializers.BooleanField()
    warnings = WarningSerializer(many=True)


class RefusalSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    detail = serializers.CharField()
    params = serializers.DictField()


class ModelSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    project_id = serializers.UUIDField()
    name = serializers.CharField()
    sha256 = serializers.CharField()
    bytes = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Model.State.choices)
    summary = InspectionSerializer(allow_null=True)
    refusal = RefusalSerializer(allow_null=True)
    created_at = serializers.DateTimeField()
    created_by = PersonSerializer()

    def to_representation(self, instance: Model) -> dict[str, Any]:
        """The inspection goes out as it came in; the serializers above describe it for the schema."""
        shaped = {
            name: field.to_representation(field.get_attribute(instance))
            for name, field in self.fields.items()
            if name not in ("summary", "refusal")
        }
        return {**shaped, "summary": instance.summary, "refusal": instance.refusal}
