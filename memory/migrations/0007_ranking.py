import pgvector.django.vector
from django.db import migrations, models

#: A second vector and the words would push each other out of the row, and every search would
#: fetch them from there. MAIN keeps them in it as long as the row fits a page; the text goes
#: first, which a search reads of what it found only.
STORED = ("second_vector", "words", "words_before")


def _storage(kind, columns):
    changes = ", ".join(f'ALTER COLUMN "{column}" SET STORAGE {kind}' for column in columns)
    return f'ALTER TABLE "memory_episode" {changes}'


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_retention")]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="second_vector",
            field=pgvector.django.vector.VectorField(
                help_text="Of the message alone if the first is in context, and the other way round.",
                null=True,
                verbose_name="second vector",
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="words",
            field=models.TextField(
                blank=True, default="", verbose_name="content words, separated by spaces"
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="words_before",
            field=models.TextField(
                blank=True,
                default="",
                verbose_name="content words of the message before, separated by spaces",
            ),
        ),
        migrations.RunSQL(_storage("MAIN", STORED), migrations.RunSQL.noop),
    ]
